/** The generators that people use make clients of both contracts, and these pass strict type-checking. */
import { beforeAll, describe, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { convertToOpenApi30 } from '../../../src/contract/convert-document.js'
import { mergeDocuments } from '../../../src/contract/merge-documents.js'
import { readSpecs } from '../../../src/contract/spec.js'
import { packagePath } from '../../../src/lib/package-path.js'

const HOME = packagePath('clients/generators')
const run = promisify(execFile)

const { openapi, collector } = readSpecs()
const whole = mergeDocuments(openapi.document, collector.document)
const DOCUMENTS = { '3.1': whole, '3.0': convertToOpenApi30(whole) }

/** Returns the arguments of each generator, by its command. Those without arguments have a file of options. */
const GENERATORS: Readonly<Record<string, (from: string, to: string) => readonly string[]>> = {
  'openapi-typescript': (from, to) => [from, '-o', `${to}/client.ts`],
  'openapi-ts': (from, to) => ['-i', from, '-o', to, '-c', '@hey-api/client-fetch'],
  orval: () => [],
  'swagger-typescript-api': (from, to) => [
    ...['generate', '-p', from, '-o', to, '-n', 'client.ts', '--http-client', 'fetch'],
  ],
  oazapfts: (from, to) => [from, `${to}/client.ts`],
  kubb: () => ['generate', '--config', 'kubb.config.mjs'],
}

/** Runs a command of the folder; returns its output, also if it failed. */
async function command(
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  try {
    const options = { cwd: HOME, env: { ...process.env, ...env, NODE_OPTIONS: '' } }
    const { stdout } = await run(path.join(HOME, 'node_modules/.bin', name), args, options)
    return { failed: false, output: stdout }
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string }
    return { failed: true, output: stdout + stderr }
  }
}

describe.each(Object.entries(DOCUMENTS))('OpenAPI %s', (version, document) => {
  const out = path.join(HOME, 'out', version)
  const file = path.join(out, 'contract.json')

  beforeAll(async () => {
    if (!existsSync(path.join(HOME, 'node_modules'))) {
      await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: HOME })
    }
    await rm(out, { recursive: true, force: true })
    await mkdir(out, { recursive: true })
    await writeFile(file, JSON.stringify(document))
  })

  test.each(Object.keys(GENERATORS))('%s', async (name) => {
    const to = path.join(out, name)
    await mkdir(to)
    const made = await command(name, GENERATORS[name]!(file, to), { DOCUMENT: file, OUTPUT: to })
    expect(made).toMatchObject({ failed: false })
    const project = path.join(to, 'tsconfig.json')
    await writeFile(project, '{ "extends": "../../../tsconfig.json", "include": ["."] }')
    expect(await command('tsc', ['-p', project])).toEqual({ failed: false, output: '' })
  })
})
