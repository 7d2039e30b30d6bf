/** Fills the shards of a project with its part of the generated year. */
import { join, sql, statement, string, uint32, uint64, type Sql } from '../../src/clickhouse/sql.js'
import type { Store } from '../../src/clickhouse/store.js'
import { STEP, NO_ROWS, recordLoaded } from '../../src/ingest/loader/load-log.js'
import { EMPTY_REPORT } from '../../src/ingest/loader/load-report.js'
import { takeBatch } from '../../src/ingest/loader/load-source.js'
import {
  computeScale,
  INDEX_USERS,
  insertEvents,
  insertSessions,
  type Slice,
} from '../reads/generate-sql.js'

/** The share of the generated visits that the large project has. */
const SHARE = 0.4
const SLICE_VISITS = 1_000_000

/** A part of the large project: the users whose number has this remainder. */
export interface Part {
  readonly project: string
  readonly index: number
  readonly of: number
  /** How many paths there are; by default as many as in the generated year. */
  readonly paths?: number
}

/**
 * Inserts a part of about `count` events. Each part numbers its users from 1 again, as a loader numbers them: densely, in order
 * of appearance. Rollups are rebuilt afterwards.
 */
export async function insertPart(store: Store, events: number, part: Part): Promise<void> {
  const scale = computeScale(events / SHARE)
  for (let from = 0; from < scale.visits; from += SLICE_VISITS) {
    const slice: Slice = { from, count: Math.min(SLICE_VISITS, scale.visits - from) }
    await run(
      store,
      insertEvents(scale, slice, (visits) => selectPart(visits, part)),
    )
    await run(
      store,
      insertSessions(sql`sessions`, scale, slice, (visits) => selectPart(visits, part)),
    )
  }
  await run(
    store,
    sql`INSERT INTO users (project_id, user_id, user, load)
SELECT project_id, concat('user-', toString(user)), user, 1
FROM (SELECT DISTINCT project_id, user FROM sessions WHERE project_id = ${string(part.project)})`,
  )
}

/** Records what was inserted as the first load, so that later loads continue from it. */
export async function recordParts(store: Store): Promise<void> {
  for (const insert of INDEX_USERS) await run(store, insert)
  await recordLoaded(
    store.writer,
    { number: 1, ...takeBatch('bench-cluster'), step: STEP.staged, slices: 1 },
    EMPTY_REPORT,
    NO_ROWS,
  )
}

const selectPart = (visits: Sql, { project, index, of, paths }: Part): Sql => sql`
SELECT * REPLACE(${join([
  sql`${string(project)} AS project_id`,
  sql`toUInt32(intDiv(user, ${uint32(of)}) + 1) AS user`,
  ...(paths === undefined ? [] : [replacePaths(paths)]),
])})
FROM (SELECT * FROM (${visits}) WHERE p = 0 AND user % ${uint64(of)} = ${uint64(index)})`

/** Chooses other paths for the events of a visit: few are frequent, many are rare. */
const replacePaths = (count: number): Sql =>
  sql`arrayMap(i -> concat('/section/', toString(toUInt32(pow(${uint32(count)}, sipHash64(n, 9, i) / 18446744073709551616.)))), range(length)) AS paths`

const run = ({ admin }: Store, fragment: Sql): Promise<void> => admin.execute(statement(fragment))
