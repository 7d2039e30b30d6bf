/** The instruments of what works on a store: loads, what waits in the inbox, the lease of the loader, and expirations. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { SECOND_MS } from '../lib/time.js'
import type { ShardLabel } from './shard-label.js'

/** A load of the inbox that was published. */
interface ObservedLoad {
  readonly seconds: number
  /** The size of the rows as they were received, in JSON. */
  readonly bytes: number
  /** The number of rows with each outcome, such as `events` or `rejected`. */
  readonly rows: Readonly<Record<string, number>>
  /** The most rows that it could have. */
  readonly maxRows: number
}

/** What waits in the inbox, as the loader last saw it. */
interface ObservedInbox {
  readonly waitingRows: number
  /** The age of the oldest row; it grows while the store does not answer. */
  readonly oldestWaitingMs: number
}

export interface LoadInstruments {
  readonly onLoad: (load: ObservedLoad) => void
  /** Loads that an earlier process had left were ended. */
  readonly onResumed: (rows: ObservedLoad['rows']) => void
  readonly onLoadFailure: () => void
  /** @param isHeld whether this process holds the lease of the loader */
  readonly onLease: (isHeld: boolean) => void
  /** @param counts how many projects keep data longer than they should by the clock, for each reason */
  readonly onHeld: (counts: Readonly<Record<string, number>>) => void
  /** @param read is called for every scrape, so it must not ask the store */
  readonly watchInbox: (read: () => ObservedInbox) => void
}

const SIZES = [1e3, 1e4, 1e5, 1e6, 4e6, 16e6, 64e6]
const DURATIONS = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

/** Returns a function that returns the instruments of a shard. */
export function createLoadInstruments(
  registry: Registry,
  label: ShardLabel,
): (shard: string) => LoadInstruments {
  const { durations, sizes, rows, maxRows, failures, lease, held } = createMetrics(registry, label)
  let inboxes: WatchedInbox[] | undefined
  return (name) => {
    const shard = label.of(name)
    const countRows = (counts: ObservedLoad['rows']): void => {
      for (const [outcome, count] of Object.entries(counts)) rows.inc({ outcome, ...shard }, count)
    }
    return {
      onLoad: (load) => {
        durations.observe(shard, load.seconds)
        sizes.observe(shard, load.bytes)
        maxRows.set(shard, load.maxRows)
        countRows(load.rows)
      },
      onResumed: countRows,
      onLoadFailure: () => failures.inc(shard),
      onLease: (isHeld) => lease.set(shard, isHeld ? 1 : 0),
      onHeld: (counts) => {
        for (const [reason, count] of Object.entries(counts)) held.set({ reason, ...shard }, count)
      },
      watchInbox: (read) => (inboxes ??= createInboxGauges(registry, label)).push({ shard, read }),
    }
  }
}

function createMetrics(registry: Registry, label: ShardLabel) {
  const registers = [registry]
  const labelNames = [...label.names]
  const durations = new Histogram({
    name: 'tallyhouse_load_duration_seconds',
    help: 'Time of a load of this process, from reading the inbox to publishing the events.',
    labelNames,
    buckets: DURATIONS,
    registers,
  })
  const sizes = new Histogram({
    name: 'tallyhouse_load_bytes',
    help: 'Bytes of the events of a load of this process, as JSON.',
    labelNames,
    buckets: SIZES,
    registers,
  })
  const rows = new Counter({
    name: 'tallyhouse_load_rows_total',
    help: 'Rows of the inbox that this process loaded, by what became of them.',
    labelNames: ['outcome', ...label.names],
    registers,
  })
  const maxRows = new Gauge({
    name: 'tallyhouse_load_max_rows',
    help: 'Most rows that the last load of this process could have; small after a load that did not finish.',
    labelNames,
    registers,
  })
  const failures = new Counter({
    name: 'tallyhouse_load_failures_total',
    help: 'Attempts to load that failed. The rows wait in the inbox and are tried again.',
    labelNames,
    registers,
  })
  const lease = new Gauge({
    name: 'tallyhouse_loader_lease_held',
    help: '1 while this process holds the lease of the loader, as one process of a store does.',
    labelNames,
    registers,
  })
  const held = new Gauge({
    name: 'tallyhouse_expirations_held',
    help: 'Projects that keep data longer than their days, as the last hourly look found them, by reason.',
    labelNames: ['reason', ...label.names],
    registers,
  })
  return { durations, sizes, rows, maxRows, failures, lease, held }
}

interface WatchedInbox {
  readonly shard: ReturnType<ShardLabel['of']>
  readonly read: () => ObservedInbox
}

/** Creates the gauges of what waits. Returns the inboxes that they show. */
function createInboxGauges(registry: Registry, label: ShardLabel): WatchedInbox[] {
  const inboxes: WatchedInbox[] = []
  const options = { labelNames: [...label.names], registers: [registry] }
  new Gauge({
    name: 'tallyhouse_inbox_rows',
    help: 'Collected events that wait to be loaded, as the loader last saw them.',
    ...options,
    collect() {
      for (const { shard, read } of inboxes) this.set(shard, read().waitingRows)
    },
  })
  new Gauge({
    name: 'tallyhouse_inbox_oldest_age_seconds',
    help: 'Age of the oldest event that waits to be loaded; 0 when none waits.',
    ...options,
    collect() {
      for (const { shard, read } of inboxes) this.set(shard, read().oldestWaitingMs / SECOND_MS)
    },
  })
  return inboxes
}
