/** A client generated from the served contract: it type-checks, and runs against the service. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import openapiTypescript, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { issueKey } from '../../../src/auth/api-keys.js'
import { openSigningKey } from '../../../src/auth/signing-key.js'
import { readConfig } from '../../../src/config/config.js'
import { createLogger } from '../../../src/lib/log.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { startService, type RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { toCluster } from '../../../src/cluster/cluster.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { createWorld } from '../../support/world/world.js'

let database: TestDatabase
let service: RunningService
let folder: string

beforeAll(async () => {
  // Beside node_modules, so that imports are resolved.
  folder = await mkdtemp(packagePath('dist/client-'))
  database = await createDatabase()
  service = await startService({
    config: readConfig({ PORT: '0', DATA_DIR: folder }),
    cluster: toCluster(database.store),
    logger: createLogger('silent'),
    now: () => new Date('2026-02-01T00:00:00Z'),
  })
  const document = await (await fetch(`${service.address}/openapi.json`)).text()
  await writeFile(path.join(folder, 'schema.ts'), astToString(await openapiTypescript(document)))
  await copyFile(packagePath('test/integration/client/sample.ts'), path.join(folder, 'sample.ts'))
})

afterAll(async () => {
  await service.stop()
  await database.drop()
  await rm(folder, { recursive: true })
})

describe('a generated client', () => {
  const options: ts.CompilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    skipLibCheck: true,
    types: ['node'],
  }

  test('type-checks without a cast', () => {
    const program = ts.createProgram([path.join(folder, 'sample.ts')], options)
    const messages = [...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics]
    expect(
      messages.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
    ).toEqual([])
    const source = ts.sys.readFile(path.join(folder, 'sample.ts'))
    expect(source).not.toMatch(/\bas\b|\bany\b/)
  })

  test('runs', async () => {
    const visit = { path: '/', country: 'DE', device_type: 'desktop' }
    const project = await createWorld(database.store, [
      { timestamp: '2026-01-10T10:00:00Z', user_id: 'a', ...visit },
      { timestamp: '2026-01-11T10:00:00Z', user_id: 'b', ...visit, path: '/pricing' },
      { timestamp: '2026-01-11T10:01:00Z', user_id: 'b', ...visit },
      { timestamp: '2026-01-12T10:00:00Z', user_id: 'c', ...visit, country: 'FR' },
    ])
    const { token } = await issueKey(
      database.store,
      await openSigningKey({ store: database.store, dataDir: folder }, new Date()),
      { projectId: project.id, name: 'client', expiresAt: null },
      new Date('2026-01-01T00:00:00Z'),
    )
    const compiled = (await import(path.join(folder, 'sample.js'))) as {
      topCountries: (baseUrl: string, key: string) => Promise<unknown>
    }
    expect(await compiled.topCountries(service.address, token)).toEqual({
      domain: 'example.com',
      from: '2026-01-01T00:00:00Z',
      rows: [
        { country: 'DE', users: 2, bounceRate: 50 },
        { country: 'FR', users: 1, bounceRate: 100 },
      ],
      more: false,
    })
    expect(await compiled.topCountries(service.address, 'no-key')).toEqual({
      status: 401,
      code: 'UNAUTHORIZED',
    })
  })
})
