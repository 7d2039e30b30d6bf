/** The record of how far the rollups of a store are built, under which definition, and with which views. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string, uint32 } from '../clickhouse/sql.js'
import { SECOND_MS } from '../lib/time.js'
import { hashDefinitions, hashLiveViews } from './materialized-views.js'
import type { Month } from './months.js'
import { DEFINITION_VERSION } from './view-definitions.js'

/**
 * Whether the rollups of a store are those of this build: `current`; `building`: being built, or to be built again, under its definition;
 * `other`: built, or being built, under another definition; `newer`: the same, and by a newer version of Tallyhouse. Only current ones
 * may answer queries.
 */
export type RollupState = 'current' | 'building' | 'other' | 'newer'

/** The steps of a build: the views are about to change, they were created, a month was rebuilt. */
const STEP = { begun: 1, views: 2, month: 3 } as const

/** Reads the state of the rollups. Writes nothing. */
export async function readRollupState(connection: Connection): Promise<RollupState> {
  const { rows } = await connection.query<Inputs>(
    statement(sql`
SELECT built, begun, version, begunAt > builtAt AS isBuilding
FROM (SELECT argMax(definition, built_at) AS built, max(built_at) AS builtAt FROM rollup_builds) AS builds
CROSS JOIN (
  SELECT argMax(definition, at) AS begun, argMax(version, at) AS version, max(at) AS begunAt
  FROM rollup_progress WHERE step = ${uint32(STEP.begun)}
) AS progress`),
    { settings: { max_threads: 1 } },
  )
  return rows[0] === undefined ? 'other' : judgeState(rows[0])
}

interface Inputs {
  /** The definition of the last build that ended; empty if none did. */
  readonly built: string
  /** The definition of the last build that began, and its version. */
  readonly begun: string
  readonly version: number
  /** Whether the last build that began has not ended. */
  readonly isBuilding: 0 | 1
}

function judgeState({ built, begun, version, isBuilding }: Inputs): RollupState {
  const own = hashDefinitions()
  if (isBuilding === 0 && built === own) return 'current'
  if (isBuilding === 1 && begun === own) return 'building'
  return version > DEFINITION_VERSION ? 'newer' : 'other'
}

/** A build: its views, and how often builds had begun and rollups were abandoned until then. */
export interface Build {
  readonly views: string
  readonly begun: number
}

/** Reads the build as it is. */
export const readBuild = async (connection: Connection): Promise<Build> => ({
  begun: await countBegun(connection),
  views: await hashLiveViews(connection),
})

/** Names a build in the rows of its months. Those of an earlier one do not count: the rollups were abandoned since. */
const nameBuild = ({ views, begun }: Build): string => `${views}:${begun}`

/**
 * Lists the months that were rebuilt in a build; undefined when its views were created under another definition than
 * this build's, or not completely.
 */
export async function listMonthsDone(
  connection: Connection,
  build: Build,
): Promise<ReadonlySet<Month> | undefined> {
  const areCreated = sql`step = ${uint32(STEP.views)} AND views = ${string(build.views)}`
  const isDone = sql`step = ${uint32(STEP.month)} AND views = ${string(nameBuild(build))}`
  const { rows } = await connection.query<{ step: number; month: Month }>(
    statement(sql`
SELECT step, month FROM rollup_progress
WHERE definition = ${string(hashDefinitions())} AND (${areCreated} OR ${isDone})`),
  )
  if (!rows.some(({ step }) => step === STEP.views)) return undefined
  return new Set(rows.filter(({ step }) => step === STEP.month).map(({ month }) => month))
}

/** Records that a build begins, or that the rollups are abandoned. Other processes then no longer trust them. */
export const recordBegun = (writer: Connection): Promise<void> => record(writer, STEP.begun, '', 0)

/** Counts how often builds have begun, and rollups were abandoned. */
async function countBegun(connection: Connection): Promise<number> {
  const { rows } = await connection.query<{ begun: number }>(
    statement(
      sql`SELECT toUInt32(count()) AS begun FROM rollup_progress WHERE step = ${uint32(STEP.begun)}`,
    ),
  )
  return rows[0]?.begun ?? 0
}

/** How often a service reads the state, and after how long each has noticed that it changed. */
export const STATE_INTERVAL_MS = 4 * SECOND_MS
export const STATE_NOTICE_MS = 3 * STATE_INTERVAL_MS

/**
 * Records that the rollups are wrong, so that all months are built anew, and waits until no service reads them any more. Their views stay.
 * The caller holds the loader lease. May be repeated.
 */
export async function abandonRollups(
  writer: Connection,
  noticeMs = STATE_NOTICE_MS,
): Promise<void> {
  await recordBegun(writer)
  await sleep(noticeMs)
}

/** Records that the views were created. */
export const recordViews = (writer: Connection, views: string): Promise<void> =>
  record(writer, STEP.views, views, 0)
/** Records that a month was rebuilt. */
export const recordMonth = (writer: Connection, build: Build, month: Month): Promise<void> =>
  record(writer, STEP.month, nameBuild(build), month)

const record = (
  writer: Connection,
  step: (typeof STEP)[keyof typeof STEP],
  views: string,
  month: Month,
): Promise<void> =>
  writer.execute(
    statement(sql`
INSERT INTO rollup_progress (version, definition, step, views, month, at)
SELECT ${uint32(DEFINITION_VERSION)}, ${string(hashDefinitions())}, ${uint32(step)}, ${string(views)}, ${uint32(month)}, ${NEXT}`),
  )

/** The time of a new row: later than that of each before, whatever the clocks of servers have said. */
const NEXT = sql`
greatest(
  now64(3, 'UTC'), addMilliseconds((SELECT max(built_at) FROM rollup_builds), 1),
  addMilliseconds((SELECT max(at) FROM rollup_progress), 1)
)`

/** Records that all months are built. */
export const recordBuilt = (writer: Connection): Promise<void> =>
  writer.execute(
    statement(
      sql`INSERT INTO rollup_builds (definition, built_at) SELECT ${string(hashDefinitions())}, ${NEXT}`,
    ),
  )
