/** The instruments of the store: its statements, and the checks of keys and tokens. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { ShardLabel } from './shard-label.js'

/** A statement that has ended. */
export interface ObservedStatement {
  /** The connection that ran it, such as `reader`. */
  readonly connection: string
  readonly seconds: number
  /** The code of its error, such as `MEMORY_LIMIT_EXCEEDED`; undefined when it succeeded. */
  readonly errorCode: string | undefined
}

/** What a request shows: an API key, or the public token of a project. */
export type CredentialKind = 'key' | 'token'

/** How a check ended; it fails when the store does not answer in time. */
type CheckOutcome = 'valid' | 'invalid' | 'failed'

export interface StoreInstruments {
  readonly onStatementStart: (connection: string) => void
  readonly onStatementEnd: (statement: ObservedStatement) => void
  /** @param isOpen whether queries are refused because the store does not answer */
  readonly onBreaker: (isOpen: boolean) => void
  readonly onCredentialCheck: (kind: CredentialKind, outcome: CheckOutcome) => void
  /** @param seconds for how long events have been stored on one disk only; 0 while they are on two */
  readonly onAlone: (seconds: number) => void
  /** @param readFreeBytes is called for every scrape, so it must not ask the store; undefined means unknown */
  readonly watchDisk: (readFreeBytes: () => number | undefined) => void
}

const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
/** The codes of ClickHouse and of Node.js; any other text counts as `OTHER`. */
const ERROR_CODE = /^[A-Z][A-Z0-9_]{1,63}$/
/** ClickHouse has a few hundred codes. A server that invents more must not grow the memory of the service. */
const MAX_ERROR_CODES = 200
const OTHER = 'OTHER'

/** Returns a function that returns the instruments of a shard. */
export function createStoreInstruments(
  registry: Registry,
  label: ShardLabel,
): (shard: string) => StoreInstruments {
  const { inFlight, durations, errors, checks, breaker } = createMetrics(registry, label)
  const codes = new Set<string>()
  const boundCode = (code: string): string => {
    if (!ERROR_CODE.test(code)) return OTHER
    if (codes.size < MAX_ERROR_CODES) codes.add(code)
    return codes.has(code) ? code : OTHER
  }
  let disks: WatchedDisk[] | undefined
  let alone: Gauge | undefined
  return (name) => {
    const shard = label.of(name)
    return {
      onStatementStart: (connection) => inFlight.inc({ connection, ...shard }),
      onStatementEnd: ({ connection, seconds, errorCode }) => {
        inFlight.dec({ connection, ...shard })
        durations.observe({ connection, ...shard }, seconds)
        if (errorCode !== undefined) {
          errors.inc({ connection, code: boundCode(errorCode), ...shard })
        }
      },
      onBreaker: (isOpen) => breaker.set(shard, isOpen ? 1 : 0),
      onCredentialCheck: (kind, outcome) => checks.inc({ kind, outcome }),
      onAlone: (seconds) => (alone ??= createAloneGauge(registry, label)).set(shard, seconds),
      watchDisk: (readFreeBytes) =>
        (disks ??= createDiskGauge(registry, label)).push({ shard, readFreeBytes }),
    }
  }
}

function createMetrics(registry: Registry, label: ShardLabel) {
  const registers = [registry]
  const inFlight = new Gauge({
    name: 'tallyhouse_store_statements_in_flight',
    help: 'Statements that wait for a connection or for their result, by connection.',
    labelNames: ['connection', ...label.names],
    registers,
  })
  const durations = new Histogram({
    name: 'tallyhouse_store_statement_duration_seconds',
    help: 'Time of a statement from the call to its result, waiting for a connection included.',
    labelNames: ['connection', ...label.names],
    buckets: DURATIONS,
    registers,
  })
  const errors = new Counter({
    name: 'tallyhouse_store_errors_total',
    help: 'Statements that failed, by connection and by the code of ClickHouse or Node.js.',
    labelNames: ['connection', 'code', ...label.names],
    registers,
  })
  const checks = new Counter({
    name: 'tallyhouse_credential_checks_total',
    help: 'Checks of API keys and public tokens, by outcome; failed: the store did not answer.',
    labelNames: ['kind', 'outcome'],
    registers,
  })
  const breaker = new Gauge({
    name: 'tallyhouse_store_breaker_open',
    help: '1 while queries are refused at once because the store does not answer.',
    labelNames: [...label.names],
    registers,
  })
  return { inFlight, durations, errors, checks, breaker }
}

/** Creates the gauge of stores that have replicas. */
const createAloneGauge = (registry: Registry, label: ShardLabel): Gauge =>
  new Gauge({
    name: 'tallyhouse_store_on_one_disk_seconds',
    help: 'For how long events have been stored on one disk only; 0 while they are on two. Absent for a store on one server.',
    labelNames: [...label.names],
    registers: [registry],
  })

interface WatchedDisk {
  readonly shard: ReturnType<ShardLabel['of']>
  readonly readFreeBytes: () => number | undefined
}

/** Creates the gauge of free space. Returns the disks that it shows. */
function createDiskGauge(registry: Registry, label: ShardLabel): WatchedDisk[] {
  const disks: WatchedDisk[] = []
  new Gauge({
    name: 'tallyhouse_store_free_bytes',
    help: 'Free space of the disk of the store, as this process last saw it; NaN while it is unknown.',
    labelNames: [...label.names],
    registers: [registry],
    collect() {
      this.reset()
      for (const { shard, readFreeBytes } of disks) this.set(shard, readFreeBytes() ?? NaN)
    },
  })
  return disks
}
