/** The laws of exports: the events are those that DuckDB finds and a query counts, on one shard and across three. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { EventField, ExportRequest } from '../../../../src/contract/api.js'
import { listEnumValues, readSpecs } from '../../../../src/contract/spec.js'
import type { StoredProject } from '../../../../src/projects/project.js'
import { event, request } from '../../../support/arbitrary/world.js'
import { startCluster, type TestCluster } from '../../../support/cluster/cluster.js'
import {
  exportNdjson,
  newWideProject,
  runQuery,
  sendToShards,
} from '../../../support/cluster/wide-world.js'
import type { DuckDatabase } from '../../../support/duckdb/database.js'
import { buildFilters } from '../../../support/duckdb/filters.js'
import { join, raw, sql } from '../../../support/duckdb/sql.js'
import { createDuckWorld } from '../../../support/duckdb/world.js'
import { scaled } from '../../../support/effort.js'
import { SESSION_ATTRIBUTES } from '../../../support/world/attributes.js'
import { NOW, type SentEvent } from '../../../support/world/world.js'

const SEED = Number(process.env['LAWS_SEED'] ?? 20_260_615)
const QUESTIONS = scaled(8)
const EVENTS = 150
const ALL = listEnumValues(readSpecs().openapi.document, 'EventField') as readonly EventField[]
const EVERYTHING: ExportRequest = {
  date_range: ['1970-01-01', '2099-12-31'],
  filters: [],
  filtersOperator: 'and',
  fields: [...ALL],
}

let cluster: TestCluster
/** The project on one shard, and the one across three. */
let [narrow, wide]: readonly StoredProject[] = []
let duck: DuckDatabase
let events: ReadonlyMap<string, Event>

beforeAll(async () => {
  cluster = await startCluster(3)
  const { shards } = cluster
  const projects = await Promise.all([
    newWideProject(cluster, shards.slice(0, 1)),
    newWideProject(cluster, shards),
  ])
  ;[narrow, wide] = projects
  const sent = sample()
  duck = await createDuckWorld(
    { domain: 'example.com', ips: [], countries: [], botAgents: [] },
    sent,
  )
  events = new Map((await readEvents()).map((one) => [nameEvent(one.timestamp, one.user_id), one]))
  await sendToShards(
    cluster,
    projects,
    projects.flatMap(({ id }) => sent.map((one) => ({ ...one, project: id }))),
  )
})
afterAll(async () => {
  duck.close()
  await cluster.stop()
})

const nameEvent = (timestamp: string, user: string): string => `${timestamp} ${user}`

/** Random events, of which a user has one at each moment. */
function sample(): readonly SentEvent[] {
  const events = fc.uniqueArray(
    event.map((one): SentEvent => ({ ...one, event_id: '' })),
    {
      minLength: EVENTS,
      maxLength: EVENTS,
      size: 'max',
      selector: (one) => nameEvent(one.timestamp, String(one['user_id'])),
    },
  )
  return fc.sample(events, { seed: SEED, numRuns: 1 })[0] ?? []
}

/** Exports lines from both projects, which have the same. */
async function exportLines(asked: ExportRequest, maxSliceEvents: number): Promise<string[]> {
  const [one, across] = await Promise.all(
    [narrow!, wide!].map((project) => exportNdjson(cluster, project, asked, maxSliceEvents)),
  )
  expect(across).toBe(one)
  return one!.split('\n').slice(0, -1)
}

type Line = Readonly<Record<Exclude<EventField, 'properties' | 'anonymous'>, string>> & {
  readonly anonymous: boolean
  readonly properties: Readonly<Record<string, string>>
}

const parseLine = (line: string): Line => JSON.parse(line) as Line

/** An event as DuckDB derives it: with its session, and with the id of that if it was sent. */
interface Event extends Omit<Line, 'properties'> {
  readonly arrival: number
  readonly session: string
}

/** Reads all events, but not their properties. */
const readEvents = (): Promise<readonly (Event & Record<string, string>)[]> =>
  duck.run(sql`
SELECT
  events.arrival, strftime(events.occurred, '%Y-%m-%dT%H:%M:%S.%gZ') AS timestamp,
  events.name, events.anonymous, events.origin, events.path, events.hash,
  ${join(SESSION_ATTRIBUTES.map((name) => raw(`events.${name}`)))},
  hits.user_id, hits.session_id, CAST(events.session AS VARCHAR) AS session
FROM events JOIN hits USING (arrival)`)

const findEvent = ({ timestamp, user_id }: Line): Event =>
  events.get(nameEvent(timestamp, user_id))!

/** Lists the arrivals of the events that match. */
async function listMatching(chosen: Pick<ExportRequest, 'filters' | 'filtersOperator'>) {
  const rows = await duck.run<{ readonly arrival: number }>(
    sql`SELECT arrival FROM events WHERE ${buildFilters(chosen)}`,
  )
  return new Set(rows.map(({ arrival }) => arrival))
}

/** Reads the properties of all events, by their arrival. */
async function readProperties(): Promise<ReadonlyMap<number, Line['properties']>> {
  const rows = await duck.run<{ readonly arrival: number; name: string; value: string }>(
    sql`SELECT arrival, name, value FROM properties ORDER BY arrival, name`,
  )
  const found = new Map<number, Record<string, string>>()
  for (const { arrival, name, value } of rows) {
    found.set(arrival, { ...found.get(arrival), [name]: value })
  }
  return found
}

/** What the line of an event must have, but the id of a session that was not sent. */
const toLine = (
  { arrival, session: _, ...one }: Event,
  found: Line,
  properties: ReadonlyMap<number, Line['properties']>,
): Line => ({
  ...one,
  session_id: one.session_id || found.session_id,
  properties: properties.get(arrival) ?? {},
})

const compare = (one: unknown, other: unknown): number =>
  Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)))

test('all events with all fields, in the order of time and then of the fields', async () => {
  const lines = (await exportLines(EVERYTHING, 20)).map(parseLine)
  expect(lines).toHaveLength(EVENTS)
  expect(lines.map((line) => Object.keys(line))).toEqual(lines.map(() => [...ALL]))
  const properties = await readProperties()
  expect(lines).toEqual(lines.map((line) => toLine(findEvent(line), line, properties)))
  const isOrdered = (one: Line, other: Line): boolean => {
    const differs = ALL.find(
      (field) => field === 'properties' || String(one[field]) !== String(other[field]),
    )
    return (
      differs === undefined || differs === 'properties' || compare(one[differs], other[differs]) < 0
    )
  }
  const disordered = lines.slice(1).filter((line, i) => !isOrdered(lines[i]!, line))
  expect(disordered).toEqual([])
})

test('the events of a session have one id, and no others have it', async () => {
  const lines = (await exportLines(EVERYTHING, 1000)).map(parseLine)
  const formed = lines.filter((line) => findEvent(line).session_id === '')
  expect(formed.length).toBeGreaterThan(20)
  const ids = new Map(formed.map((line) => [findEvent(line).session, line.session_id]))
  expect(formed.map(({ session_id: id }) => id)).toEqual(
    formed.map((line) => ids.get(findEvent(line).session)),
  )
  expect(new Set(ids.values()).size).toBe(ids.size)
  expect([...ids.values()].filter((id) => !/^session-[0-9a-f]{16}$/.test(id))).toEqual([])
})

test('an export has the events that match, as many as a query counts', async () => {
  const lines = await exportLines(EVERYTHING, 1000)
  const counts: number[] = []
  await fc.assert(
    fc.asyncProperty(
      request,
      fc.constantFrom(1, 7, 1000),
      fc.constantFrom(undefined, 1, 5),
      async (asked, maxSliceEvents, limit) => {
        const { date_range, filters = [], filtersOperator = 'and', time_zone } = asked
        const chosen = { date_range, filters, filtersOperator }
        const zone = time_zone === undefined ? {} : { time_zone }
        const counted = { ...chosen, ...zone, metrics: ['pageviews' as const, 'events' as const] }
        const { period, data } = await runQuery(cluster, narrow!, counted, NOW)
        const [from, to] = [Date.parse(period.from), Date.parse(period.to) + 1_000]
        const matching = await listMatching(chosen)
        const want = lines.filter((line) => {
          const { arrival, timestamp } = findEvent(parseLine(line))
          const at = Date.parse(timestamp)
          return at >= from && at < to && matching.has(arrival)
        })
        const limited = limit === undefined ? {} : { limit }
        const found = await exportLines(
          { ...EVERYTHING, ...chosen, ...zone, ...limited },
          maxSliceEvents,
        )
        expect(found).toEqual(want.slice(0, limit))
        const { pageviews, events } = data[0]!.metrics
        expect((pageviews ?? 0) + (events ?? 0)).toBe(want.length)
        counts.push(want.length)
      },
    ),
    { seed: SEED, numRuns: QUESTIONS, endOnFailure: true },
  )
  // Empty exports prove nothing.
  expect(counts.filter((count) => count > 1).length / counts.length).toBeGreaterThan(0.3)
})
