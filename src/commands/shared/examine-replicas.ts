/** Asks the replicas of a shard how they are. Nothing is written. */
import { connect, type Connection } from '../../clickhouse/connection.js'
import type { Look, Member, ReplicaSet } from '../../clickhouse/endpoint.js'
import { getClickHouseReason } from '../../clickhouse/errors.js'
import { isAlone } from '../../clickhouse/replica-set.js'
import { readChoice } from '../../clickhouse/replicas/choice.js'
import { hashTables } from '../../clickhouse/replicas/standby.js'
import { sql, statement } from '../../clickhouse/sql.js'
import { formatDuration, SECOND_MS } from '../../lib/time.js'

/** How a replica is. */
export interface ReplicaStatus {
  readonly name: string
  readonly url: string
  readonly state: 'active' | 'standby' | 'away'
  /** Why it is away: it does not answer, or does not reach Keeper. */
  readonly reason: string | null
  readonly facts: ReplicaFacts | null
}

interface ReplicaFacts {
  /** The parts that it has still to get from others, and by how many seconds it is behind. */
  readonly parts: number
  readonly delaySeconds: number
  /** The tables that cannot be written. */
  readonly readOnly: readonly string[]
  /** The parts that it has put aside because they were damaged or unexpected. */
  readonly detached: number
  /** A name of its tables and views: those of all replicas are the same. */
  readonly tables: string
}

/** How the replicas of a shard are together. */
export interface ReplicasStatus {
  /** In the order of the configuration. */
  readonly replicas: readonly ReplicaStatus[]
  /** How many replicas must have stored an insert; null if none answers. */
  readonly quorum: 1 | 2 | null
  /** For how many seconds events have been stored on one disk only; null if they are on two. */
  readonly aloneSeconds: number | null
}

const RESPONSE_MS = 5 * SECOND_MS

export async function examineReplicas({ members }: ReplicaSet): Promise<ReplicasStatus> {
  const looks = await Promise.all(members.map(examineMember))
  const answering = looks.flatMap(({ look }) => (look === undefined ? [] : [look]))
  const [last] = answering.toSorted((one, other) => other.number - one.number)
  const replicas = looks.map(
    ({ member: { replica, url }, look, facts, reason }): ReplicaStatus => ({
      name: replica.name,
      url,
      state: look === undefined ? 'away' : replica.name === last?.active ? 'active' : 'standby',
      reason: reason ?? null,
      facts: facts ?? null,
    }),
  )
  const isOnOne = last !== undefined && (isAlone(last) || last.aloneSeconds > 0)
  return {
    replicas,
    quorum: last === undefined ? null : isAlone(last) ? 1 : 2,
    aloneSeconds: isOnOne ? last.aloneSeconds : null,
  }
}

interface ExaminedMember {
  readonly member: Member
  readonly look?: Look
  readonly facts?: ReplicaFacts
  readonly reason?: string
}

async function examineMember(member: Member): Promise<ExaminedMember> {
  const connection = connect(member, 'admin', { killsCancelled: false })
  try {
    const look = await readChoice(connection, RESPONSE_MS)
    return { member, look, facts: await readFacts(connection) }
  } catch (error) {
    return { member, reason: getClickHouseReason(error) ?? 'it does not answer' }
  } finally {
    await connection.close()
  }
}

async function readFacts(connection: Connection): Promise<ReplicaFacts> {
  const { rows } = await connection.query<Omit<ReplicaFacts, 'tables'>>(
    statement(sql`
SELECT
  toUInt32(sum(queue_size)) AS parts, toUInt32(max(absolute_delay)) AS delaySeconds,
  groupArrayIf(table, is_readonly != 0) AS readOnly,
  (SELECT toUInt32(count()) FROM system.detached_parts WHERE database = currentDatabase() AND reason NOT IN ('', 'ignored')) AS detached
FROM system.replicas WHERE database = currentDatabase()`),
    { signal: AbortSignal.timeout(RESPONSE_MS) },
  )
  const [facts = { parts: 0, delaySeconds: 0, readOnly: [], detached: 0 }] = rows
  return { ...facts, tables: await hashTables(connection) }
}

/** Says what is wrong with the replicas of a shard, in sentences without a subject for each. */
export function listReplicaFaults({
  replicas,
  quorum,
  aloneSeconds,
}: ReplicasStatus): readonly string[] {
  const active = replicas.find(({ state }) => state === 'active')
  const faults = replicas.flatMap(({ name, reason, facts }) => [
    ...(reason === null ? [] : [`replica ${name} is away: ${reason}`]),
    ...(facts === null
      ? []
      : listFactFaults(facts, active?.facts?.tables).map((text) => `replica ${name} ${text}`)),
  ])
  return [
    ...faults,
    ...(quorum !== null && active === undefined ? ['no replica is active'] : []),
    ...(aloneSeconds === null
      ? []
      : [
          `events have been stored on one disk only for ${formatDuration(aloneSeconds * SECOND_MS)}`,
        ]),
  ]
}

const listFactFaults = (
  { readOnly, detached, tables }: ReplicaFacts,
  wanted: string | undefined,
): readonly string[] => [
  ...(readOnly.length > 0 ? [`cannot write ${readOnly.slice(0, 3).join(', ')}`] : []),
  ...(detached > 0 ? [`has put ${detached} parts aside`] : []),
  ...(wanted !== undefined && tables !== wanted
    ? ['has other tables or views than the active one']
    : []),
]
