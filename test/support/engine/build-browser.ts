/** Builds the files that browsers load, if they are missing or older than their sources. */
import { execFile } from 'node:child_process'
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { packagePath } from '../../../src/lib/package-path.js'

const SCRIPT = packagePath('scripts/build-browser.ts')
const SOURCES = ['src/http/site/browser', 'src/explorer'].map((folder) => packagePath(folder))
const TARGETS = packagePath('dist/http/site/browser')

/** Runs scripts/build-browser.ts in a process of its own: esbuild does not work inside jest. */
export async function buildBrowser(): Promise<void> {
  const [sources, targets, script] = await Promise.all([
    Promise.all(SOURCES.map(readModifiedTimes)),
    readModifiedTimes(TARGETS),
    stat(SCRIPT),
  ])
  if (targets.length > 0 && Math.min(...targets) > Math.max(...sources.flat(), script.mtimeMs))
    return
  await promisify(execFile)(process.execPath, ['--import', 'tsx', SCRIPT], {
    cwd: packagePath('.'),
  })
}

/** When each file of a folder and of those in it was modified; empty when the folder is missing. */
async function readModifiedTimes(folder: string): Promise<readonly number[]> {
  const files = await readdir(folder, { recursive: true }).catch(() => [])
  return Promise.all(
    files.map((file) =>
      stat(path.join(folder, file)).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  )
}
