/** Two projects with the same events in two months, and what the tests of their rollups do with them. */
import { afterEach, beforeEach, expect } from '@jest/globals'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { LEASE_TABLES } from '../../../src/clickhouse/lease/lease-tables.js'
import { identifier, sql, statement, type Sql } from '../../../src/clickhouse/sql.js'
import type { Store } from '../../../src/clickhouse/store.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { pauseBefore } from '../../support/store/breaking.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { select } from '../../support/store/facts.js'
import { checkRollups } from '../../support/store/loading.js'
import { readRollups } from '../../support/store/rollups.js'
import { newProject, send, type SentEvent } from '../../support/world/world.js'

export const at = (time: string, fields: object): SentEvent => ({
  timestamp: `2026-${time}Z`,
  user_id: 'u',
  path: '/',
  ...fields,
})
/** A session across the end of a month, and visits on other days. */
const EVENTS = [
  at('01-15T10:00:00', { country: 'DE', user_id: 'v' }),
  at('01-31T23:50:00', { country: 'DE', city: 'Köln' }),
  at('02-01T00:10:00', { country: 'DE', name: 'signup', properties: { plan: 'pro' } }),
]
/** An earlier first event of that session, with another country. */
export const LATE = at('01-31T23:40:00', { country: 'FR' })

/** What a check reports when all rollups are right. */
export const AGREEING = { months: 2, groups: expect.any(Number), different: 0, differences: [] }

/** The statement that computes most of the shadow tables. */
export const COMPUTE = /INSERT INTO \S+ \(session, sign, [^)]*\)\s+SELECT session, 1/

/** Two projects in a database of their own, made before each test. */
export interface TwoProjects {
  readonly store: Store
  readonly shop: StoredProject
  readonly other: StoredProject
  readonly write: (text: Sql) => Promise<void>
  readonly rollupsOf: (project: Pick<StoredProject, 'id'>) => ReturnType<typeof readRollups>
  readonly check: () => ReturnType<typeof checkRollups>
  /** Adds wrong counts to the rollups, in each month and for both projects. */
  readonly falsify: () => Promise<void>
  readonly listShadowTables: () => Promise<readonly { name: string }[]>
  /** Lets the leases of a killed process expire at once. */
  readonly expireLeases: (...names: ('loader' | 'rollups')[]) => Promise<void>
  /** Lets another process take the loader lease, as if it had expired, and load a late event. */
  readonly loseLease: () => Promise<void>
  /** A connection that runs `work` once, before the first statement that matches. */
  readonly meanwhile: (pattern: RegExp, work: () => Promise<unknown>) => Connection
}

/** Makes the projects before each test of this file, and drops their database after it. */
export function useTwoProjects(): TwoProjects {
  let database: TestDatabase
  let shop: StoredProject
  let other: StoredProject
  beforeEach(async () => {
    database = await createDatabase()
    shop = await newProject(database.store)
    other = await newProject(database.store)
    const events = [shop, other].flatMap(({ id }) => EVENTS.map((one) => ({ ...one, project: id })))
    await send(database.store, { id: '' }, events)
  })
  afterEach(() => database.drop())

  const write = (text: Sql): Promise<void> => database.store.admin.execute(statement(text))
  async function expireLeases(...names: ('loader' | 'rollups')[]): Promise<void> {
    for (const name of names) {
      const [newest] = await LEASE_TABLES.listGenerations(database.store.writer, name)
      const table = identifier(`lease_${name}_${newest!.number}`)
      await write(sql`INSERT INTO ${table} (state, at) SELECT 'released', now64(3)`)
    }
  }
  return {
    get store() {
      return database.store
    },
    get shop() {
      return shop
    },
    get other() {
      return other
    },
    write,
    rollupsOf: (project) => readRollups(database.store, project.id),
    check: () => checkRollups(database.store.writer, {}),
    falsify: () =>
      write(sql`
INSERT INTO sessions_monthly (project_id, dimension, value, month, pageviews, events, visits, bounces, duration)
SELECT id, 'country', 'DE', month, 7, 7, 7, 7, 7
FROM projects ARRAY JOIN [toDate('2026-01-01'), toDate('2026-02-01')] AS month`),
    listShadowTables: () =>
      select(
        database.store,
        sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'draft_')`,
      ),
    expireLeases,
    loseLease: async () => {
      await expireLeases('loader')
      await send(database.store, shop, [LATE])
    },
    meanwhile: (pattern, work) =>
      pauseBefore(database.store.writer, pattern, async () => {
        await work()
      }),
  }
}
