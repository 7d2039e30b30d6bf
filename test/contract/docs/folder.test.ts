/** The pages are served from an installation in a folder whose name begins with a dot, as npx and nvm have. */
import { expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const SCRIPT = `
import express from 'express'
import { createDocsRouter } from './dist/http/site/docs/docs-router.js'
import { readSpecs } from './dist/contract/spec.js'
const server = express().use(createDocsRouter(readSpecs())).listen(0, '127.0.0.1', async () => {
  const { port } = server.address()
  const statuses = []
  for (const encoding of ['gzip', 'identity']) {
    const headers = { 'Accept-Encoding': encoding }
    const answer = await fetch('http://127.0.0.1:' + port + '/docs/swagger-ui-bundle.js', { headers })
    statuses.push(answer.status, (await answer.text()).length > 1e6)
  }
  console.log(JSON.stringify(statuses))
  process.exit()
})`

test('Swagger UI is found', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-docs-'))
  try {
    const home = path.join(folder, '.hidden', 'tallyhouse')
    const swagger = ['package.json', 'swagger-ui-bundle.js'].map(
      (file) => `node_modules/swagger-ui-dist/${file}`,
    )
    for (const name of ['dist', 'docs', 'openapi', 'CHANGELOG.md', 'package.json', ...swagger]) {
      await cp(name, path.join(home, name), { recursive: true })
    }
    for (const name of await readdir('node_modules')) {
      const link = path.join(home, 'node_modules', name)
      if (name !== 'swagger-ui-dist') await symlink(path.resolve('node_modules', name), link)
    }
    const run = promisify(execFile)
    const args = ['--input-type=module', '--eval', SCRIPT]
    const { stdout } = await run(process.execPath, args, { cwd: home })
    expect(JSON.parse(stdout)).toEqual([200, true, 200, true])
  } finally {
    await rm(folder, { recursive: true })
  }
})
