/** The Python client type-checks, and its package can be built, installed and used. */
import { afterAll, beforeAll, describe, expect } from '@jest/globals'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { packagePath } from '../../../src/lib/package-path.js'
import { readVersion } from '../../../src/lib/version.js'
import { listBlocks } from '../../support/docs/forms.js'
import { describeWithPython, HOME, runIn } from './python.js'
import { thoroughTest as test } from '../../support/effort.js'

const PYRIGHT = path.join(HOME, 'node_modules/.bin/pyright')

describeWithPython('its types', ['httpx', 'pandas'], (_, python) => {
  beforeAll(async () => {
    if (existsSync(path.join(HOME, 'node_modules'))) return
    await runIn('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'])
  })

  test('pyright finds no error, and those in misspelt queries', async () => {
    expect(await runIn(PYRIGHT, ['--pythonpath', python])).toMatch(/^0 errors/m)
  })

  test.each([
    ['its README', ['clients/python/README.md']],
    ['the docs', ['docs/recipes.md', 'docs/paging.md']],
  ])('pyright finds no error in the examples of %s', async (_, pages) => {
    const texts = await Promise.all(pages.map((page) => readFile(packagePath(page), 'utf8')))
    const examples = texts.flatMap((text) => listBlocks(text, 'python'))
    expect(examples.length).toBeGreaterThan(1)
    // Within the folder of the client, whose options are strict. The first example is what the others need.
    const directory = await mkdtemp(path.join(HOME, 'examples-'))
    try {
      const file = path.join(directory, 'examples.py')
      await writeFile(file, examples.join('\n'))
      expect(await runIn(PYRIGHT, ['--pythonpath', python, file])).toMatch(/^0 errors/m)
    } finally {
      await rm(directory, { recursive: true })
    }
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
})
