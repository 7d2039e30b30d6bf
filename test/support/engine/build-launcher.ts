/** Builds what tests run as a process of its own, where it is missing or older than its source. */
import { transformFile } from '@swc/core'
import { mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { packagePath } from '../../../src/lib/package-path.js'

/** Builds the engine's launcher. */
export const buildLauncher = (): Promise<void> => buildFolder('clickhouse/embedded')

/** Strips the types of a folder of src/ into dist/, as the build does, in a few milliseconds. */
export async function buildFolder(folder: string): Promise<void> {
  const files = await readdir(packagePath(`src/${folder}`), { recursive: true })
  const sources = files.filter((file) => file.endsWith('.ts') && !isForBrowsers(file))
  await Promise.all(sources.map((file) => build(path.posix.join(folder, file))))
}

/** Scripts for browsers are built by scripts/build-browser.ts. */
const isForBrowsers = (file: string): boolean => file.startsWith('http/site/browser/')

async function build(file: string): Promise<void> {
  const source = packagePath(`src/${file}`)
  const target = packagePath(`dist/${file.replace(/\.ts$/, '.js')}`)
  if ((await modified(target)) >= (await modified(source))) return
  const { code } = await transformFile(source, {
    swcrc: false,
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'es6' },
  })
  // Renamed into place: another run may be starting the file just now.
  await mkdir(path.dirname(target), { recursive: true })
  const draft = `${target}.${process.pid}`
  await writeFile(draft, code)
  await rename(draft, target)
}

async function modified(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
}
