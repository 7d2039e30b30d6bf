/** Builds the service into dist/, for tests that run it, or the engine's launcher, as a process. */
import { transformFile } from '@swc/core'
import { mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { packagePath } from '../../../src/lib/package-path.js'

/** Compiles src/ to dist/ as the build does: only the files that are missing in dist/ or older there. */
export async function buildService(): Promise<void> {
  const files = await readdir(packagePath('src'), { recursive: true })
  await Promise.all(files.filter((file) => file.endsWith('.ts')).map(build))
}

async function build(file: string): Promise<void> {
  const source = packagePath(`src/${file}`)
  const target = packagePath(`dist/${file.replace(/\.ts$/, '.js')}`)
  if ((await readModifiedTime(target)) >= (await readModifiedTime(source))) return
  const { code } = await transformFile(source, {
    swcrc: false,
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'es6' },
  })
  // Renamed into place: another run of the tests may be starting this file.
  await mkdir(path.dirname(target), { recursive: true })
  const draft = `${target}.${process.pid}`
  await writeFile(draft, code)
  await rename(draft, target)
}

async function readModifiedTime(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
}
