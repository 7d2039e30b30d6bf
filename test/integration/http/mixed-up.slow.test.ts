/** A store whose answers are mixed up: nobody gets the rows of another project, or of another request. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Writable } from 'node:stream'
import { startService, type RunningService } from '../../../src/bootstrap/serving/start-service.js'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { readConfig } from '../../../src/config/config.js'
import { createLogger } from '../../../src/lib/log.js'
import { toCluster } from '../../../src/cluster/cluster.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { createWorld } from '../../support/world/world.js'
import { outcome } from './harness.js'

const NOW = new Date('2026-06-15T12:00:00Z')
const SECRET = 'Secret Browser'

let database: TestDatabase
let keys: TestKeys
let service: RunningService
let isMixedUp = false
/** How many answers were mixed up. */
let mixedUp = 0
const log: string[] = []
const tokens: string[] = []

/**
 * Returns a connection that, while `isMixedUp`, gives each query the answer to an earlier one with the same text. Those for the
 * sizes of projects are right: the text of the others depends on them.
 */
function mixUp(connection: Connection): Connection {
  const answers = new Map<string, unknown>()
  return {
    ...connection,
    query: async (statement, options) => {
      const earlier = answers.get(statement.query)
      if (isMixedUp && earlier !== undefined && !statement.query.includes('AS last_month')) {
        mixedUp++
        return earlier as never
      }
      const answer = await connection.query<never>(statement, options)
      answers.set(statement.query, answer)
      return answer
    },
  }
}

beforeAll(async () => {
  database = await createDatabase()
  keys = await createKeys(database.store)
  const { store } = database
  for (const browser of [SECRET, 'Chrome']) {
    const event = { timestamp: '2026-06-14T10:00:00Z', user_id: 'u', browser }
    const { id: projectId } = await createWorld(store, [event])
    tokens.push(await keys.issue(projectId, NOW))
  }
  const destination = new Writable({
    write(line: Buffer, _encoding, done) {
      log.push(line.toString())
      done()
    },
  })
  service = await startService({
    // Each answer comes from the store.
    config: readConfig({ DATA_DIR: keys.dataDir, PORT: '0', CACHE_MB: '0' }),
    cluster: toCluster({ ...store, reader: mixUp(store.reader) }),
    logger: createLogger('info', destination),
    now: () => NOW,
  })
})
afterAll(async () => {
  await service.stop()
  await database.drop()
  await keys.remove()
})

const send = (who: number, path: string, body?: object): Promise<Response> =>
  fetch(service.address + path, {
    headers: { Authorization: `Bearer ${tokens[who]!}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })

/** Sends a request again until its answer is mixed up: a plan may change while the service reads more about the projects. */
async function sendMixedUp(who: number, path: string, body?: object): Promise<Response> {
  isMixedUp = false
  expect((await send(0, path, body)).status).toBe(200)
  isMixedUp = true
  mixedUp = 0
  log.length = 0
  const response = await send(who, path, body)
  return mixedUp > 0 ? response : sendMixedUp(who, path, body)
}

test.each([
  {
    what: 'rows',
    path: '/v1/analytics/query',
    body: { date_range: '7days', group_by: ['country'] },
  },
  { what: 'a total', path: '/v1/analytics/query', body: { date_range: '7days' } },
  {
    what: 'steps',
    path: '/v1/analytics/funnel',
    body: { date_range: '7days', steps: [{ filters: [] }, { filters: [] }] },
  },
  {
    what: 'cohorts',
    path: '/v1/analytics/retention',
    body: { interval: 'day', date_range: '7days' },
  },
  { what: 'the first event for `all`', path: '/v1/analytics/query', body: { date_range: 'all' } },
  { what: 'the first event', path: '/v1/project', body: undefined },
])('INTERNAL_ERROR: $what of another project, or of an earlier request', async ({ path, body }) => {
  for (const who of [1, 0]) {
    const response = await sendMixedUp(who, path, body)
    expect(await outcome(response.clone())).toEqual({ status: 500, code: 'INTERNAL_ERROR' })
    expect(await response.text()).not.toContain(SECRET)
    expect(log.join('')).toContain('rows of another project or request')
    expect(log.join('')).not.toContain(SECRET)
  }
})
