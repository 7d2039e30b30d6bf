/** The instruments of the write path: the loads that empty the inbox, what waits in it, and the lease of the loader. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { SECOND_MS } from '../lib/time.js'

/** A load of the inbox that was published. */
export interface ObservedLoad {
  readonly seconds: number
  /** Of the rows as they were received: JSON. */
  readonly bytes: number
  /** The number of rows with each outcome, such as `events` or `rejected`. */
  readonly rows: Readonly<Record<string, number>>
}

/** What waits in the inbox, as the loader last saw it. */
export interface ObservedInbox {
  readonly waitingRows: number
  /** The age of the oldest row; it grows while the store does not answer. */
  readonly oldestWaitingMs: number
}

export interface LoadInstruments {
  readonly onLoad: (load: ObservedLoad) => void
  readonly onLoadFailure: () => void
  /** @param isHeld whether this process holds the lease of the loader */
  readonly onLease: (isHeld: boolean) => void
  /** @param read is called for every scrape, so it must not ask the store */
  readonly watchInbox: (read: () => ObservedInbox) => void
}

const SIZES = [1e3, 1e4, 1e5, 1e6, 4e6, 16e6, 64e6]
const DURATIONS = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

export function createLoadInstruments(registry: Registry): LoadInstruments {
  const registers = [registry]
  const durations = new Histogram({
    name: 'tallyhouse_load_duration_seconds',
    help: 'Time of a load of this process, from reading the inbox to publishing the events.',
    buckets: DURATIONS,
    registers,
  })
  const sizes = new Histogram({
    name: 'tallyhouse_load_bytes',
    help: 'Bytes of the events of a load of this process, as JSON.',
    buckets: SIZES,
    registers,
  })
  const rows = new Counter({
    name: 'tallyhouse_load_rows_total',
    help: 'Rows of the inbox that this process loaded, by what became of them.',
    labelNames: ['outcome'],
    registers,
  })
  const failures = new Counter({
    name: 'tallyhouse_load_failures_total',
    help: 'Attempts to load that failed. The rows wait in the inbox and are tried again.',
    registers,
  })
  const lease = new Gauge({
    name: 'tallyhouse_loader_lease_held',
    help: '1 while this process holds the lease of the loader, as one process of a store does.',
    registers,
  })
  return {
    onLoad: ({ seconds, bytes, rows: counts }) => {
      durations.observe(seconds)
      sizes.observe(bytes)
      for (const [outcome, count] of Object.entries(counts)) rows.inc({ outcome }, count)
    },
    onLoadFailure: () => failures.inc(),
    onLease: (isHeld) => lease.set(isHeld ? 1 : 0),
    watchInbox: (read) => createInboxGauges(registry, read),
  }
}

function createInboxGauges(registry: Registry, read: () => ObservedInbox): void {
  const registers = [registry]
  new Gauge({
    name: 'tallyhouse_inbox_rows',
    help: 'Collected events that wait to be loaded, as the loader last saw them.',
    registers,
    collect() {
      this.set(read().waitingRows)
    },
  })
  new Gauge({
    name: 'tallyhouse_inbox_oldest_age_seconds',
    help: 'Age of the oldest event that waits to be loaded; 0 when none waits.',
    registers,
    collect() {
      this.set(read().oldestWaitingMs / SECOND_MS)
    },
  })
}
