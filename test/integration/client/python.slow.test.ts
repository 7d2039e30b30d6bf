/** The Python client: its tests run against a running service. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readFile } from 'node:fs/promises'
import { issueAdminKey } from '../../../src/auth/admin-keys.js'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { toCluster } from '../../../src/cluster/cluster.js'
import { createLogger } from '../../../src/lib/log.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { runOperations } from '../../../src/management/run-operations.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { createContext } from '../../support/store/loading.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { startTestService } from '../../support/world/service.js'
import { createWorld, newProject } from '../../support/world/world.js'
import { describeWithPython, HOME } from './python.js'

/** Values that a reader of CSV could take for others. The tests of the client know them, as NOTES. */
const NOTES = [
  ...['', ' spaced ', '=1+1', 'NA', 'a,b', 'say "hi"', 'line\nbreak', '\r', 'null', '1.50', 'ünï'],
]

let database: TestDatabase
let keys: TestKeys
let service: RunningService
let apiKey: string
let adminKey: string
/** The operations that the tests have started, one after another. */
let operations = Promise.resolve()
/** The public token of another project, to which the tests send. */
let token: string
let clock = Date.parse('2026-06-15T12:00:00Z')

describeWithPython('clients/python', ['httpx', 'pytest', 'pandas'], (runPython) => {
  beforeAll(async () => {
    database = await createDatabase()
    const { store } = database
    keys = await createKeys(store)
    const project = await createWorld(store, [
      ...Array.from({ length: 7 }, (_, i) => ({
        timestamp: '2026-06-15T10:00:00Z',
        user_id: `u${i}`,
        path: `/${i}`,
      })),
      ...NOTES.map((note) => ({
        timestamp: '2026-06-15T10:10:00Z',
        user_id: 'u0',
        name: 'noted',
        properties: { note },
      })),
    ])
    apiKey = await keys.issue(project.id, new Date(clock), ['read', 'export'])
    token = (await newProject(store)).token
    const now = (): Date => new Date((clock += 1_000))
    const asked = { name: 'tests', org: null, expiresAt: null }
    adminKey = (await issueAdminKey(store, asked, now())).secret
    const waiting = {
      cluster: toCluster(store),
      getContext: () => createContext(),
      ...{ logger: createLogger('silent'), now, waitMs: 0 },
    }
    service = await startTestService({
      store,
      now,
      env: { DATA_DIR: keys.dataDir },
      onOperation: () => {
        operations = operations.then(() => runOperations(waiting))
      },
    })
  })
  afterAll(async () => {
    await operations
    await service.stop()
    await keys.remove()
    await database.drop()
  })

  test('its tests pass; only those of Arrow may lack their library', async () => {
    const printed = await runPython(['-m', 'pytest', '-q', '-rs', '-p', 'no:cacheprovider'], {
      TALLYHOUSE_URL: service.address,
      TALLYHOUSE_API_KEY: apiKey,
      TALLYHOUSE_TOKEN: token,
      TALLYHOUSE_ADMIN_KEY: adminKey,
    })
    expect(printed).toMatch(/^\d{2,} passed/m)
    const skipped = printed.split('\n').filter((line) => line.startsWith('SKIPPED'))
    expect(skipped.filter((line) => !line.includes('pyarrow'))).toEqual([])
  })

  test('its license is that of the project', async () => {
    const license = await readFile(`${HOME}/LICENSE`, 'utf8')
    expect(license).toBe(await readFile(packagePath('LICENSE'), 'utf8'))
  })
})
