/** Forwards events that arrived on a shard which their project has left, to the inbox of the shard where it lives. */
import { Readable } from 'node:stream'
import { sql, statement, uint64 } from '../clickhouse/sql.js'
import { locate, type Cluster, type Shard } from '../cluster/cluster.js'
import { chooseShard } from '../cluster/choose-shard.js'
import {
  readFields,
  type FieldNeeds,
  type RoutingFields,
} from '../ingest/import/shards/read-fields.js'
import { ONE_BLOCK } from '../ingest/inbox/one-block.js'
import type { Logger } from '../lib/log.js'
import { startRepeating } from '../lib/repeat.js'
import { SECOND_MS } from '../lib/time.js'
import { findVersion } from '../projects/versions.js'

/** A row as it was received. */
interface ReceivedRow {
  readonly project: string
  /** An event with an id, as a JSON object: if it is forwarded twice, it counts once. */
  readonly line: string
  readonly received_at: string
  readonly age_checked: boolean
}

/** How many rows are forwarded in one insert. */
const MAX_ROWS = 10_000

/**
 * Forwards all rows that wait for it. They are deleted once the other shard has them; a repetition after a crash adds nothing,
 * because each has an event id.
 *
 * @returns the number of rows
 */
export async function forwardRows(cluster: Cluster): Promise<number> {
  let count = 0
  for (const shard of cluster.shards) count += await forwardFrom(cluster, shard)
  return count
}

/** Forwards the rows that wait on one shard. */
async function forwardFrom(cluster: Cluster, shard: Shard): Promise<number> {
  const { writer } = shard.store
  const { rows: loads } = await writer.query<{ load: number }>(
    statement(sql`SELECT DISTINCT load FROM forwards ORDER BY load`),
  )
  let count = 0
  for (const { load } of loads) {
    const forwarded = await forwardLoad(cluster, shard, load)
    if (forwarded === undefined) continue
    await writer.execute(statement(sql`ALTER TABLE forwards DROP PARTITION ${uint64(load)}`))
    count += forwarded
  }
  return count
}

/** Forwards the rows of a load; returns undefined if some have to wait. */
async function forwardLoad(
  cluster: Cluster,
  { store: { writer } }: Shard,
  load: number,
): Promise<number | undefined> {
  const places = new Map<string, Place | undefined>()
  let count = 0
  for (;;) {
    const { rows } = await writer.query<ReceivedRow>(
      statement(sql`
SELECT project, line, toString(received_at) AS received_at, age_checked FROM forwards
WHERE load = ${uint64(load)} ORDER BY seq LIMIT ${uint64(count)}, ${uint64(MAX_ROWS)}`),
    )
    if (rows.length === 0) return count
    for (const id of new Set(rows.map(({ project }) => project))) {
      if (!places.has(id)) places.set(id, await findPlace(cluster, id))
      if (places.get(id) === undefined) return undefined
    }
    await sendRows(rows, (row) => places.get(row.project)?.(row))
    count += rows.length
  }
}

/** Chooses the shard of a row. */
type Place = (row: ReceivedRow) => Shard

/** Finds where a project lives now; undefined while the shard does not know that yet. */
async function findPlace(cluster: Cluster, id: string): Promise<Place | undefined> {
  const { home } = cluster
  const current = await findVersion(home.store.writer, id)
  // Its home rejects the events of a project that was deleted, and says why.
  if (current === undefined) return () => home
  const { project } = current
  const shards = locate(cluster, project)
  for (const { store } of shards) {
    const copy = await findVersion(store.writer, id)
    if (copy?.version !== current.version) return undefined
  }
  return (row) => shards[chooseShard(readSender(row), project, readArrival(row))] ?? shards[0]
}

/** Reads who an event comes from, as the loader reads it: so no row is forwarded twice. */
function readSender({ line }: ReceivedRow): RoutingFields {
  const bytes = Buffer.from(line)
  return readFields(bytes, 0, bytes.length, NEEDS) ?? {}
}

const NEEDS: FieldNeeds = { project: false, timestamp: true }

const readArrival = ({ received_at: at }: ReceivedRow): Date => new Date(`${at.replace(' ', 'T')}Z`)

/** Inserts rows into the inboxes of their shards. */
async function sendRows(
  rows: readonly ReceivedRow[],
  place: (row: ReceivedRow) => Shard | undefined,
): Promise<void> {
  for (const shard of new Set(rows.map(place))) {
    if (shard === undefined) continue
    const own = rows.filter((row) => place(row) === shard)
    const lines = own.map(({ project, line, received_at, age_checked }) =>
      JSON.stringify([project, line, received_at, age_checked]),
    )
    await shard.store.writer.upload(
      statement(
        sql`INSERT INTO inbox (project, line, received_at, age_checked) FORMAT JSONCompactEachRow`,
      ),
      Readable.from([Buffer.from(lines.join('\n'))]),
      { ...ONE_BLOCK, async_insert: 0, input_format_parallel_parsing: 0 },
    )
  }
}

const FORWARD_INTERVAL_MS = 2 * SECOND_MS

/**
 * Forwards rows every few seconds. A shard that is away delays no other. Returns a function that stops it; without other shards
 * there is nothing to do.
 */
export function startForwarding(cluster: Cluster, logger: Logger): () => Promise<void> {
  const failing = new Set<string>()
  const forward = async (shard: Shard, stop: AbortSignal): Promise<void> => {
    const { name } = shard
    if (!isUsable(shard)) return
    try {
      const rows = await forwardFrom(cluster, shard)
      failing.delete(name)
      if (rows > 0) logger.info({ shard: name, rows }, 'forwarded events of projects that moved')
    } catch (error) {
      // A shard may be away for long: it is logged once.
      if (!failing.has(name) && !stop.aborted) {
        logger.warn({ shard: name, err: error }, 'events could not be forwarded')
      }
      failing.add(name)
    }
  }
  const shards = cluster.shards.length === 1 ? [] : cluster.shards
  const started = shards.map((shard) =>
    startRepeating((stop) => forward(shard, stop), FORWARD_INTERVAL_MS),
  )
  return async () => {
    await Promise.all(started.map((stop) => stop()))
  }
}

/** A shard that was away since the start may not have the table yet. */
const isUsable = ({ isPrepared = () => true }: Shard): boolean => isPrepared()
