/** A store on a busy machine: lookups that take longer than a second are waited for, and no request is refused. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createAuthenticator } from '../../../src/auth/authenticate.js'
import { openKeyring } from '../../../src/auth/keyring.js'
import { createPublicReaders } from '../../../src/auth/public-readers.js'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import { createFindProject } from '../../../src/ingest/collect/find-project.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { startChaosProxy, type ChaosProxy } from '../../support/faults/chaos-proxy.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { newProject } from '../../support/world/world.js'

const now = (): Date => new Date('2026-01-31T12:00:00Z')

let database: TestDatabase
let keys: TestKeys
let project: StoredProject
let proxy: ChaosProxy
let store: Store
beforeAll(async () => {
  database = await createDatabase()
  keys = await createKeys(database.store)
  project = await newProject(database.store, { hasPublicDashboard: true })
  proxy = await startChaosProxy(database.endpoint.url)
  proxy.fail({ kind: 'latency', ms: 1_100 })
  store = connectStore({ ...database.endpoint, url: proxy.url })
})
afterAll(async () => {
  await store.close()
  await proxy.stop()
  await database.drop()
  await keys.remove()
})

test('keys, public dashboards, public tokens and the limits of queries are found', async () => {
  const key = await keys.issue(project.id, now())
  const keyring = openKeyring(store.reader, now)
  const found = await Promise.all([
    createAuthenticator({ store, keyring, now }).authenticate(`Bearer ${key}`),
    createPublicReaders(store, now).find(project.id),
    createFindProject(store.tokenLookups)(project.token),
    store.readQueryLimits(),
  ])
  expect(found).toMatchObject([
    { project: { id: project.id } },
    { project: { id: project.id } },
    { id: project.id },
    { readonly: '2' },
  ])
})
