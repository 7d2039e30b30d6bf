/** A store on several servers: each has all tables, and ClickHouse replicates what is inserted into any of them. */
import type { ClickHouseSettings } from '@clickhouse/client'

/** One server of such a store. */
export interface Replica {
  /** Its name, which differs from those of the other replicas. */
  readonly name: string
  /** The path of the store in Keeper, such as `/tallyhouse/main/shard1`; the same for all replicas. */
  readonly path: string
  /** How many replicas must have stored an insert before it is confirmed; 1 while the only other one is away. */
  readonly getQuorum: () => number
}

/**
 * How long an insert waits for the other replicas, in milliseconds. A busy one needs seconds. Those of events are given up at once when a
 * replica is away, see `getQuorumSignal`.
 */
const QUORUM_TIMEOUT_MS = 10_000

/** Builds the settings of every statement that may change a replicated store. */
export function buildReplicaSettings({ getQuorum }: Replica): ClickHouseSettings {
  const quorum = getQuorum()
  return {
    insert_quorum: quorum > 1 ? String(quorum) : '0',
    insert_quorum_parallel: 1,
    insert_quorum_timeout: QUORUM_TIMEOUT_MS,
    // Each view writes into a replicated table: one after another they would wait for the quorum eight times.
    parallel_view_processing: 1,
    // To wait for all replicas would fail while one is away.
    lightweight_deletes_sync: '1',
    alter_sync: '1',
  }
}
