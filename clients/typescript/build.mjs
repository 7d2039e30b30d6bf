/**
 * Builds the package: JavaScript as an ES module and as CommonJS, and types for both. Uses esbuild and TypeScript of the project.
 */
import { build } from 'esbuild'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import process from 'node:process'
import ts from 'typescript'

const home = import.meta.dirname
const out = process.argv[2] ?? path.join(home, 'dist')
const types = path.join(out, 'types')

await rm(out, { recursive: true, force: true })
await mkdir(out, { recursive: true })
const shared = {
  entryPoints: [path.join(home, 'src/index.ts')],
  bundle: true,
  target: 'es2022',
  platform: 'neutral',
  external: ['node:*'],
}
await build({ ...shared, format: 'esm', outfile: path.join(out, 'index.js') })
await build({ ...shared, format: 'cjs', outfile: path.join(out, 'index.cjs') })

const config = ts.getParsedCommandLineOfConfigFile(
  path.join(home, 'tsconfig.json'),
  { outDir: types },
  { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (one) => fail([one]) },
)
const program = ts.createProgram(config.fileNames, config.options)
fail([...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics])

// The declarations lie beside each other, once for each kind of module.
for (const name of await readdir(types)) {
  const text = await readFile(path.join(types, name), 'utf8')
  await writeDeclaration(name, text.replaceAll('../../../generated/', './'))
}
for (const name of ['openapi.d.ts', 'collector.d.ts', 'management.d.ts']) {
  const contract = path.join(home, '../../generated', name)
  await writeDeclaration(name, await readFile(contract, 'utf8'))
}
await rm(types, { recursive: true })

async function writeDeclaration(name, text) {
  await writeFile(path.join(out, name), text)
  const common = text.replaceAll(/(from '\.\/[^']+)\.js'/g, "$1.cjs'")
  await writeFile(path.join(out, name.replace(/\.d\.ts$/, '.d.cts')), common)
}

function fail(diagnostics) {
  if (diagnostics.length === 0) return
  const host = { ...ts.sys, getCanonicalFileName: (name) => name, getNewLine: () => '\n' }
  host.getCurrentDirectory = () => home
  throw new Error(ts.formatDiagnostics(diagnostics, host))
}
