/** The Python client and its examples type-check, and its package can be built, installed and used. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { packagePath } from '../../../src/lib/package-path.js'
import { readVersion } from '../../../src/lib/version.js'
import { listBlocks } from '../../support/docs/forms.js'
import { describeWithPython, HOME, runIn } from './python.js'

const PYRIGHT = path.join(HOME, 'node_modules/.bin/pyright')

/** Writes a file next to the client, whose strict options apply there; returns what `check` does with it. */
async function withFile<T>(text: string, check: (file: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(path.join(HOME, 'examples-'))
  try {
    const file = path.join(directory, 'examples.py')
    await writeFile(file, text)
    return await check(file)
  } finally {
    await rm(directory, { recursive: true })
  }
}

/** Reads the Python examples of some pages as one program: the first example is what the others need. */
async function readExamples(pages: readonly string[]): Promise<string> {
  const texts = await Promise.all(pages.map((page) => readFile(packagePath(page), 'utf8')))
  const examples = texts.flatMap((text) => listBlocks(text, 'python'))
  expect(examples.length).toBeGreaterThan(1)
  return examples.join('\n')
}

const README = 'clients/python/README.md'

describeWithPython('its types for pyright', ['httpx', 'pandas'], (_, python) => {
  beforeAll(async () => {
    if (existsSync(path.join(HOME, 'node_modules'))) return
    await runIn('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'])
  })
  const check = (...files: readonly string[]) => runIn(PYRIGHT, ['--pythonpath', python, ...files])

  test('the client has no error, and misspelt queries have theirs', async () => {
    expect(await check()).toMatch(/^0 errors/m)
  })

  test.each([
    ['its README', [README]],
    ['the docs', ['docs/recipes.md', 'docs/paging.md']],
  ])('the examples of %s have no error', async (_, pages) => {
    expect(await withFile(await readExamples(pages), check)).toMatch(/^0 errors/m)
  })
})

const MISSPELT = `from tallyhouse import Client, Tracker

tally = Client("https://stats.example", "key")
tally.query({"date_range": "all", "metrics": ["visitors"]})
tally.query({"date_range": "all", "groupby": ["country"]})
row = tally.query({"date_range": "all"})["data"][0]
row["metrics"]["visitors"]
users: str = row["metrics"]["users"]
rate: float = row["metrics"]["bounce_rate"]
Tracker("https://stats.example", "token").track({"name": "signup"})
`

describeWithPython('its types for mypy', ['httpx', 'mypy'], (runPython) => {
  let cache: string
  beforeAll(async () => {
    cache = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-mypy-'))
  })
  afterAll(() => rm(cache, { recursive: true }))
  const check = (file: string) => runPython(['-m', 'mypy', '--cache-dir', cache, file])

  test('the client and the examples of its README have no error', async () => {
    expect(await withFile(await readExamples([README]), check)).toMatch(/^Success/)
  })

  test('misspelt queries, wrong types of metrics and events of nobody are errors', async () => {
    const printed = await withFile(MISSPELT, (file) => check(file).catch(String))
    const lines = [...printed.matchAll(/:(\d+): error/g)].map(([, line]) => Number(line))
    expect([...new Set(lines)]).toEqual([4, 5, 7, 8, 9, 10])
  })
})

describe('its package', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-python-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  describeWithPython('in a venv', ['httpx', 'hatchling', 'venv'], (runPython) => {
    test('is installed with its types and runs', async () => {
      await runPython(['-m', 'venv', '--system-site-packages', folder])
      const options = ['--quiet', '--no-index', '--no-build-isolation', '--no-deps']
      const python = path.join(folder, 'bin/python')
      await runIn(python, ['-m', 'pip', 'install', ...options, HOME])
      const where = 'import tallyhouse, os; print(os.path.dirname(tallyhouse.__file__))'
      const [installed = ''] = (await runIn(python, ['-P', '-c', where])).split('\n')
      expect(installed.startsWith(folder)).toBe(true)
      const sources = await readdir(path.join(HOME, 'src/tallyhouse'))
      const files = await readdir(installed)
      const isCache = (name: string): boolean => name === '__pycache__'
      expect(files.filter((name) => !isCache(name)).sort()).toEqual(
        sources.filter((name) => !isCache(name)).sort(),
      )
      const about =
        'import importlib.metadata as m; a = m.metadata("tallyhouse-client"); print(a["Version"], a["License-Expression"])'
      expect((await runIn(python, ['-P', '-c', about])).trim()).toBe(`${readVersion()} Apache-2.0`)
    })
  })

  describeWithPython('to be published', ['build', 'hatchling', 'twine'], (runPython) => {
    test('a wheel and an sdist are built, pass twine, and have the files of the client only', async () => {
      const out = path.join(folder, 'dist')
      // The requirements of the build are those of the system: no test loads packages.
      const options = ['--no-isolation', '--skip-dependency-check', '--outdir', out]
      await runPython(['-m', 'build', ...options, HOME])
      const name = `tallyhouse_client-${readVersion()}`
      const [wheel, sdist] = [`${name}-py3-none-any.whl`, `${name}.tar.gz`]
      expect((await readdir(out)).sort()).toEqual([wheel, sdist])
      const files = [wheel, sdist].map((file) => path.join(out, file))
      const checked = await runPython(['-m', 'twine', '--no-color', 'check', '--strict', ...files])
      expect(checked.match(/: PASSED$/gm)).toHaveLength(2)
      const list =
        'import json, sys, tarfile, zipfile; print(json.dumps([sorted(zipfile.ZipFile(sys.argv[1]).namelist()), sorted(tarfile.open(sys.argv[2]).getnames())]))'
      const [inWheel, inSdist] = JSON.parse(await runPython(['-c', list, ...files])) as string[][]
      const about = ['METADATA', 'RECORD', 'WHEEL', 'licenses/LICENSE']
      const sources = await listSources('src/tallyhouse')
      expect(inWheel).toEqual([
        ...sources.map((file) => file.replace('src/', '')),
        ...about.map((file) => `${name}.dist-info/${file}`),
      ])
      // hatchling adds the .gitignore that it obeys.
      const others = [
        '.gitignore',
        'CHANGELOG.md',
        'LICENSE',
        'PKG-INFO',
        'README.md',
        'pyproject.toml',
      ]
      expect(inSdist).toEqual(
        [...others, ...sources, ...(await listSources('tests'))].map((file) => `${name}/${file}`),
      )
    })
  })
})

/** Lists the sources in a folder of the client. */
const listSources = async (folder: string): Promise<readonly string[]> =>
  (await readdir(path.join(HOME, folder)))
    .filter((name) => name.endsWith('.py') || name === 'py.typed')
    .sort()
    .map((name) => `${folder}/${name}`)
