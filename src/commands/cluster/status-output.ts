/** Formats what `tallyhouse cluster status` prints. */
import { formatNumber } from '../../lib/counts.js'
import { formatDuration } from '../../lib/time.js'
import { formatTable } from '../shared/output.js'
import { listReplicaFaults } from '../shared/examine-replicas.js'
import type { ClusterStatus, ShardStatus } from './examine-cluster.js'
import type { TimedGroup } from './time-groups.js'

const HEADINGS = [
  'SHARD',
  'STATE',
  'VERSION',
  'WAITING',
  'LOADER',
  'PROJECTS',
  'MB',
  'CLOCK',
  'ASKS',
]

/** Formats one shard per line, what is wrong with any of them, and what a query over all costs. */
export function formatStatus({ shards, whole, relocations }: ClusterStatus): string {
  const faults = shards.flatMap(listFaults)
  const rest = whole === null ? [] : [formatWhole(whole)]
  const moves = relocations.map((one) => `The project ${one}.`)
  const replicas = shards.flatMap(formatReplicas)
  const tables = [
    formatTable([HEADINGS, ...shards.map(formatShard)]),
    ...(replicas.length === 0 ? [] : ['', formatTable([REPLICA_HEADINGS, ...replicas]), '']),
  ]
  return [...tables, ...faults, ...rest, ...moves].join('\n')
}

const REPLICA_HEADINGS = ['SHARD', 'REPLICA', 'STATE', 'TO FETCH', 'DELAY', 'QUORUM']

const formatReplicas = ({ name, replicas }: ShardStatus): readonly (readonly string[])[] =>
  replicas === undefined
    ? []
    : replicas.replicas.map(({ name: replica, state, facts }) => [
        name,
        replica,
        state,
        facts === null ? '-' : formatNumber(facts.parts),
        facts === null ? '-' : `${facts.delaySeconds} s`,
        String(replicas.quorum ?? '-'),
      ])

function formatShard({ name, facts, projects, neighbours }: ShardStatus): readonly string[] {
  const count = projects === null ? '-' : formatNumber(projects)
  if (facts === null) return [name, 'away', '-', '-', '-', count, '-', '-', '-']
  const { version, missing, waiting, loader, bytes, aheadMs } = facts
  return [
    name,
    missing.length > 0 ? 'not migrated' : 'ok',
    version,
    formatWaiting(waiting),
    loader ?? 'nobody',
    count,
    formatNumber(Math.round(bytes / MB)),
    `${formatNumber(-aheadMs)} ms`,
    formatTimed(neighbours),
  ]
}

const MB = 1e6

function formatWaiting(
  waiting: { readonly rows: number; readonly oldestMs: number } | null,
): string {
  if (waiting === null) return '-'
  const since = waiting.rows === 0 ? '' : ` for ${formatDuration(waiting.oldestMs)}`
  return `${formatNumber(waiting.rows)}${since}`
}

function formatTimed(timed: TimedGroup | null): string {
  if (timed === null) return '-'
  return timed.ms === null ? 'fails' : `${timed.shards} in ${timed.ms} ms`
}

/** Says what is wrong with a shard, in lines for people. */
function listFaults({ name, reason, facts, neighbours, replicas }: ShardStatus): readonly string[] {
  const faults = [
    reason,
    (facts?.missing.length ?? 0) > 0 ? 'it lacks migrations: run "tallyhouse migrate"' : null,
    neighbours?.reason ?? null,
    ...(replicas === undefined ? [] : listReplicaFaults(replicas)),
  ]
  return faults.flatMap((fault) => (fault === null ? [] : [`${name}: ${fault}`]))
}

const formatWhole = ({ shards, ms, reason }: TimedGroup): string =>
  ms === null
    ? `A query over all ${shards} shards fails: ${reason ?? ''}`
    : `A query over all ${shards} shards takes ${ms} ms beside its work on each.`

/** Whether a shard needs attention. */
export const isFaulty = (shard: ShardStatus): boolean => listFaults(shard).length > 0
