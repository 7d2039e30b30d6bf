/** Run by `npm run lists -- <folder> <version>`: writes referrer-list.ts anew from the files in a folder. */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { packagePath } from '../src/lib/package-path.js'
import { convertLists } from './convert-referrer-list.js'

const [folder, version] = process.argv.slice(2)
if (folder === undefined || version === undefined || !/^\d+\.\d+\.\d+$/.test(version)) {
  throw new Error('usage: npm run lists -- <folder with the .yml files> <their version, as 1.4.1>')
}
const read = (file: string): Promise<string> => readFile(path.join(folder, file), 'utf8')
const list = convertLists(
  {
    searchEngines: await read('SearchEngines.yml'),
    socials: await read('Socials.yml'),
    assistants: await read('AIAssistants.yml'),
  },
  version,
)
await writeFile(packagePath('src/ingest/enrichment/referrer-list.ts'), list)
