/** The package `@tallyhouse/client` can be published, installed and used: with its files, its types, and the examples of its README. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { packagePath } from '../../../src/lib/package-path.js'
import { readVersion } from '../../../src/lib/version.js'
import { listBlocks } from '../../support/docs/forms.js'
import { compile } from '../../support/docs/programs.js'

const HOME = packagePath('clients/typescript')
const options = { cwd: HOME, env: { ...process.env, NODE_OPTIONS: '' } }
const run = promisify(execFile)

/** The modules whose types are in the package, and the contracts. */
const TYPES = [
  'batch',
  'collector',
  'contract',
  'delivery',
  'files',
  'http',
  'index',
  'management',
  'management-operations',
  'management-request',
  'openapi',
  'pages',
  'result',
  'retries',
  'rows',
  'streams',
  'tables',
  'tracker',
]
const FILES = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'dist/index.cjs',
  'dist/index.js',
  ...TYPES.flatMap((name) => [`dist/${name}.d.cts`, `dist/${name}.d.ts`]),
  'package.json',
]

interface Packed {
  readonly id: string
  readonly files: readonly { readonly path: string }[]
}

test('it is ready to publish, with these files', async () => {
  // The registry is not asked.
  const apart = ['--registry=http://127.0.0.1:2', '--fetch-retries=0', '--loglevel=notice']
  const { stdout, stderr } = await run('npm', ['publish', '--dry-run', '--json', ...apart], options)
  const { '@tallyhouse/client': packed } = JSON.parse(stdout) as Record<string, Packed>
  expect(packed?.id).toBe(`@tallyhouse/client@${readVersion()}`)
  expect(packed?.files.map((file) => file.path).sort()).toEqual(FILES.toSorted())
  expect(stderr).toContain('public access (dry-run)')
  expect(stderr).not.toContain('auto-corrected')
  const [license, own] = await Promise.all(
    [packagePath('LICENSE'), path.join(HOME, 'LICENSE')].map((file) => readFile(file, 'utf8')),
  )
  expect(own).toBe(license)
})

describe('installed as its README says', () => {
  let folder: string
  beforeAll(async () => {
    // Beside node_modules, so that the examples find the types of Node and Arrow.
    folder = await mkdtemp(packagePath('dist/package-'))
    await run('npm', ['pack', '--pack-destination', folder], options)
    await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }')
    const file = `./tallyhouse-client-${readVersion()}.tgz`
    const args = ['install', '--offline', '--no-audit', '--no-fund', file]
    await run('npm', args, { ...options, cwd: folder })
  })
  afterAll(() => rm(folder, { recursive: true }))

  test('it names the version of today', async () => {
    const readme = await readFile(path.join(HOME, 'README.md'), 'utf8')
    expect(readme).toContain(`npm install ./tallyhouse-client-${readVersion()}.tgz`)
  })

  test('the examples of its README compile strictly', async () => {
    const installed = path.join(folder, 'node_modules/@tallyhouse/client/README.md')
    const blocks = listBlocks(await readFile(installed, 'utf8'), 'ts')
    expect(blocks).toHaveLength(5)
    const file = path.join(folder, 'examples.ts')
    await writeFile(file, blocks.join('\n'))
    compile([file])
    await writeFile(file, blocks.join('\n').replace('metrics.users,', 'metrics.visits,'))
    expect(() => compile([file])).toThrow("Property 'visits' does not exist")
  })
})

describe('the checks of packages', () => {
  beforeAll(async () => {
    if (!existsSync(path.join(HOME, 'node_modules'))) {
      await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], options)
    }
    await run('node', ['build.mjs'], options)
  })

  test.each<[string, readonly string[]]>([
    ['publint', ['--strict']],
    ['attw', ['--pack', '.', '--no-color', '--no-emoji']],
  ])('%s has no complaint', async (name, args) => {
    const { stdout } = await run(path.join(HOME, 'node_modules/.bin', name), args, options)
    expect(stdout).toMatch(/All good|No problems found/)
  })
})
