/** The instruments of the process itself: version, memory, CPU time, event loop and log. */
import { Counter, Gauge, type Registry } from 'prom-client'
import { monitorEventLoopDelay } from 'node:perf_hooks'

export interface ProcessOptions {
  /** The version of the service. */
  readonly version: string
  /** Returns how many lines of the log were dropped so far. */
  readonly countDroppedLines: () => number
}

const QUANTILES = [0.5, 0.99, 1]
const NANOSECONDS = 1e9
const MICROSECONDS = 1e6
/** Milliseconds between two samples of the event loop. */
const RESOLUTION_MS = 10

/** @returns a function that ends the measurement of the event loop */
export function createProcessInstruments(
  registry: Registry,
  { version, countDroppedLines }: ProcessOptions,
): () => void {
  const registers = [registry]
  new Gauge({
    name: 'tallyhouse_build_info',
    help: 'Always 1; the labels have the versions of the service and of Node.js.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version, node: process.versions.node }, 1)
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'When the process started, in seconds since 1970.',
    registers,
  }).set(performance.timeOrigin / 1_000)
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Memory of the process, without that of the embedded ClickHouse.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss())
    },
  })
  createCounter(registry, {
    name: 'tallyhouse_log_lines_dropped_total',
    help: 'Lines of the log that were dropped, because the reader of standard output did not keep up.',
    read: countDroppedLines,
  })
  createCounter(registry, {
    name: 'process_cpu_seconds_total',
    help: 'CPU time of the process, without that of the embedded ClickHouse.',
    read: () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / MICROSECONDS
    },
  })
  return measureEventLoop(registry)
}

interface CounterOptions {
  readonly name: string
  readonly help: string
  /** Returns the total so far. */
  readonly read: () => number
}

/** Creates a counter that is read when the metrics are written. */
function createCounter(registry: Registry, { name, help, read }: CounterOptions): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset()
      this.inc(read())
    },
  })
}

/** @returns a function that ends the measurement */
function measureEventLoop(registry: Registry): () => void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  new Gauge({
    name: 'tallyhouse_event_loop_delay_seconds',
    help: 'How late the event loop was since the last scrape: median, 99th percentile, maximum.',
    labelNames: ['quantile'],
    registers: [registry],
    collect() {
      for (const quantile of QUANTILES) {
        const late = delays.percentile(quantile * 100) / NANOSECONDS - RESOLUTION_MS / 1_000
        this.set({ quantile }, Math.max(0, late))
      }
      delays.reset()
    },
  })
  return () => delays.disable()
}
