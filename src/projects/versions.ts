/** Reads, writes and copies the versions of projects. Each version is a row, and the highest counts. */
import { Readable } from 'node:stream'
import type { Connection, QueryOptions } from '../clickhouse/connection.js'
import { joinCalls, joinInserts } from '../clickhouse/joined-calls.js'
import {
  boolean,
  join,
  optionalTime,
  optionalUint32,
  sql,
  statement,
  string,
  strings,
  time,
  uint32,
  uint64,
  type Sql,
} from '../clickhouse/sql.js'
import type { FormerWidth, StoredProject } from './project.js'
import { PROJECT_COLUMNS, toStoredProject, type ProjectRow } from './row.js'

/** A project with the number of its version, from 1. */
export interface ProjectVersion {
  readonly project: StoredProject
  readonly version: number
}

/**
 * Finds the current version of a project; undefined when the project does not exist.
 *
 * @param options of the statement; without them, versions are read together
 */
export async function findVersion(
  connection: Connection,
  id: string,
  options?: QueryOptions,
): Promise<ProjectVersion | undefined> {
  const row =
    options === undefined
      ? await findRow(connection, id)
      : (await selectRows(connection, [id], options))[0]
  return row && { project: toStoredProject(row), version: row.version }
}

/** PREWHERE, because the other columns of projects nearby would be read as well: FINAL does not move a condition itself. */
const selectRows = async (
  connection: Connection,
  ids: readonly string[],
  options: QueryOptions = {},
): Promise<readonly ProjectRow[]> => {
  const { rows } = await connection.query<ProjectRow>(
    statement(sql`SELECT ${PROJECT_COLUMNS} FROM projects FINAL PREWHERE id IN ${strings(ids)}`),
    options,
  )
  return rows
}

const findRow = joinCalls<string, ProjectRow | undefined>(async (connection, ids) => {
  const rows = new Map((await selectRows(connection, ids)).map((row) => [row.id, row]))
  return ids.map((id) => rows.get(id))
})

/** What tells the versions of projects in two stores apart. */
export interface VersionMark {
  readonly id: string
  readonly version: number
  /** When the project was created, in milliseconds since 1970: a later project with the same id has another time. */
  readonly createdMs: number
  readonly shards: readonly string[]
  readonly isDeleting: boolean
}

/** Lists the current versions of all projects, without their other fields. */
export async function listVersionMarks(
  connection: Connection,
  options: QueryOptions = {},
): Promise<readonly VersionMark[]> {
  const { rows } = await connection.query<VersionMark>(
    statement(sql`
SELECT id, version, toUnixTimestamp64Milli(created_at) AS createdMs, shards, is_deleting AS isDeleting
FROM projects FINAL ORDER BY id`),
    options,
  )
  return rows
}

/** All columns of the table. */
const COLUMNS = sql`
        id, org, name, domain, time_zone, token, created_at, has_public_dashboard,
        embed_origins, excluded_ips, excluded_countries, retention_days, keep_days,
        former_token, former_token_until, is_deleting, has_cut_sessions, shards,
        former_widths, is_widening, version`

/** Writes former widths as an array of tuples. */
const listWidths = (widths: readonly FormerWidth[]): Sql =>
  sql`[${join(widths.map(({ width, until }) => sql`(${uint32(width)}, toDate(${time(until)}))`))}]`

const PROJECTS = sql`projects (${COLUMNS}
      )`

const insertVersion = joinInserts(PROJECTS)

/** Writes a version of a project. May be repeated. @param signal ends the statement; without it, versions are written together */
export async function writeVersion(
  writer: Connection,
  { project, version }: ProjectVersion,
  signal?: AbortSignal,
): Promise<void> {
  const values: Sql = sql`
    ${string(project.id)}, ${string(project.org ?? '')}, ${string(project.name)}, ${string(project.domain)},
    ${string(project.timeZone ?? '')}, ${string(project.token)}, ${time(project.createdAt)}, ${boolean(project.hasPublicDashboard)},
    ${strings(project.embedOrigins)}, ${strings(project.excludedIps)}, ${strings(project.excludedCountries)},
    ${optionalUint32(project.retentionDays)}, ${optionalUint32(project.keepDays)},
    ${string(project.formerToken?.token ?? '')}, ${optionalTime(project.formerToken?.until ?? null)},
    ${boolean(project.isDeleting)}, ${boolean(project.hasCutSessions)}, ${strings(project.shards)},
    ${listWidths(project.formerWidths)}, ${boolean(project.isWidening)}, ${uint64(version)}`
  if (signal === undefined) await insertVersion(writer, values)
  else await writer.execute(statement(sql`INSERT INTO ${PROJECTS} SELECT ${values}`), {}, signal)
}

/** How many rows one statement copies. */
const COPIED_ROWS = 1_000

/** Copies the current versions of projects from one store to another, with their numbers. May be repeated. */
export async function copyVersions(
  from: Connection,
  to: Connection,
  ids: readonly string[],
  createSignal: () => AbortSignal,
): Promise<void> {
  for (let start = 0; start < ids.length; start += COPIED_ROWS) {
    const some = strings(ids.slice(start, start + COPIED_ROWS))
    const { rows } = await from.query<object>(
      statement(sql`SELECT ${COLUMNS} FROM projects FINAL PREWHERE id IN ${some}`),
      { signal: createSignal() },
    )
    if (rows.length === 0) continue
    const bytes = Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n'))
    await to.upload(
      statement(sql`INSERT INTO projects (${COLUMNS}) FORMAT JSONEachRow`),
      Readable.from([bytes]),
      { async_insert: 0 },
      createSignal(),
    )
  }
}
