/**
 * The recipes of CONTRIBUTING.md, followed word for word in a copy of the sources. The build that results opens the store of the last
 * release, in which a load was staged without the new dimension.
 */
import { afterEach, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { packagePath } from '../../../src/lib/package-path.js'
import { findProject } from '../../../src/projects/store.js'
import { IS_THOROUGH } from '../../support/effort.js'
import { applyHunks, readRecipe } from '../../support/recipes/apply-recipe.js'
import { listReleases, openReleaseStore, waitFor } from '../../support/stores/open-release-store.js'

const SOURCES = [
  ...[
    'bench',
    'clickhouse',
    'clients',
    'docs',
    'examples',
    'generated',
    'openapi',
    'scripts',
    'src',
    'test',
  ],
  ...['package.json', 'tsconfig.json', 'tsconfig.build.json', 'eslint.config.js', 'jest.config.js'],
  ...[
    'README.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    '.prettierignore',
    '.spectral.yaml',
    'redocly.yaml',
  ],
]

const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

async function copySources(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-recipe-'))
  folders.push(folder)
  for (const name of SOURCES) {
    await cp(packagePath(name), path.join(folder, name), { recursive: true })
  }
  await symlink(packagePath('node_modules'), path.join(folder, 'node_modules'))
  return folder
}

/** Runs a command in a folder; returns all that it prints. */
async function run(folder: string, command: string, ...args: readonly string[]): Promise<string> {
  const options = { cwd: folder, env: { PATH: process.env['PATH'], HOME: os.homedir() } }
  const text = ({ stdout, stderr }: { stdout: string; stderr: string }): string => stdout + stderr
  return promisify(execFile)(command, args, { ...options, maxBuffer: 2 ** 26 }).then(
    text,
    (error: unknown) => {
      const output = text(error as { stdout: string; stderr: string })
      throw new Error(`${[command, ...args].join(' ')} failed:\n${output}`)
    },
  )
}

const HASH_TEST = 'test/unit/rollups/view-definitions.test.ts'
/** The tests that compare the contracts with code, docs and generated files, and those of the tables of `src/model`. */
const TESTS = [
  'test/contract/agreement',
  'test/contract/document',
  'test/contract/docs',
  'test/contract/generated',
  'test/unit/model',
  'test/unit/clickhouse/migration-files',
  HASH_TEST,
]

/** Enters the version and the hash that the test of the views prints. */
async function enterHash(folder: string): Promise<void> {
  const printed = await run(folder, 'npm', 'run', 'test:jest', '--', HASH_TEST).catch(String)
  const hash = /\+ +"hash": "([0-9a-f]{64})"/.exec(printed)?.[1]
  const version = /\+ +"version": (\d+)/.exec(printed)?.[1]
  expect({ printed, hash, version }).toEqual({
    printed,
    hash: expect.any(String),
    version: expect.any(String),
  })
  const file = path.join(folder, HASH_TEST)
  const text = await readFile(file, 'utf8')
  await writeFile(
    file,
    text
      .replace(/version: \d+,/, `version: ${version},`)
      .replace(/hash: '[0-9a-f]{64}'/, `hash: '${hash}'`),
  )
}

test('a dimension and a metric are added as CONTRIBUTING.md says', async () => {
  const guide = await readFile(packagePath('CONTRIBUTING.md'), 'utf8')
  const folder = await copySources()
  for (const title of ['Add a dimension', 'Add a metric']) {
    await applyHunks(folder, readRecipe(guide, title))
  }
  await run(folder, 'npm', 'run', 'generate')
  await run(folder, 'npm', 'run', 'build')
  await enterHash(folder)
  if (IS_THOROUGH) {
    await run(folder, 'npm', 'run', 'types')
    await run(folder, 'npm', 'run', 'lint:format')
    await run(folder, 'npm', 'run', 'lint:openapi')
    await run(folder, 'npm', 'run', 'test:fast', '--', '--maxWorkers=1', ...TESTS)
  }

  const { store, send, query, close } = await openReleaseStore(listReleases().at(-1)!, folder)
  try {
    const project = await findProject(store.writer, 'shop')
    const sent = await send('/v1/events', project!.token, {
      user_id: 'f',
      url: 'https://shop.example/',
      user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      connection: 'wifi',
    })
    expect(sent.status).toBe(202)
    const request = {
      date_range: 'all',
      metrics: ['users', 'pageviews', 'events', 'visits', 'bounces'],
      group_by: ['connection'],
    }
    const unknown = {
      group: { connection: '' },
      metrics: { users: 6, pageviews: 9, events: 2, visits: 5, bounces: 1 },
    }
    const wifi = {
      group: { connection: 'wifi' },
      metrics: { users: 1, pageviews: 1, events: 0, visits: 1, bounces: 1 },
    }
    const all = { data: [unknown, wifi] }
    expect(await waitFor(all, () => query(request))).toEqual(all)
    const filters = [{ type: 'connection', operator: 'oneOf', value: ['wifi'] }]
    expect(await query({ ...request, filters })).toEqual({ data: [wifi] })
    expect(await query({ ...request, group_by: [], filters })).toEqual({
      data: [{ ...wifi, group: {} }],
    })
  } finally {
    await close()
  }
}, 3_600_000)
