/** The package `@tallyhouse/client` passes the checks of packages: every kind of module finds its code and its types. */
import { beforeAll, expect } from '@jest/globals'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { packagePath } from '../../../src/lib/package-path.js'
import { thoroughTest as test } from '../../support/effort.js'

const HOME = packagePath('clients/typescript')
const options = { cwd: HOME, env: { ...process.env, NODE_OPTIONS: '' } }
const run = promisify(execFile)

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
