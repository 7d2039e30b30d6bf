/** What parent and launcher agree on: the options, the inherited lock, the lines and the exit codes. */

/** The process that holds a data folder, as a refused second one names it. */
export interface Holder {
  readonly pid: number
  /** What it runs, e.g. `tallyhouse serve`. */
  readonly purpose: string
}

/** The launcher's only argument, as JSON; it is public in the list of processes, so it has no secrets. */
export interface LaunchOptions {
  /** The engine's folder, `<DATA_DIR>/clickhouse`. */
  readonly home: string
  readonly port: number
  readonly holder: Holder
}

/** The lock file, opened by the parent; parent and launcher share the lock that is put on it. */
export const LOCK_FD = 3

/** Lines of the launcher's stdout, in this order. */
export const LOCKED = 'locked'
export const READY = 'ready'

/** The parent's answer to `LOCKED`, once the configuration is written. */
export const START = 'start'

export const EXIT_STOPPED = 0
export const EXIT_FAILED = 1
export const EXIT_IN_USE = 75
export const EXIT_PORT_TAKEN = 76
