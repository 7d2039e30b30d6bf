/** The protocol between the parent process and the launcher: options, the inherited lock, lines and exit codes. */

/** The process that holds a data folder, as the error of a refused second one names it. */
export interface Holder {
  readonly pid: number
  /** The command it runs, e.g. `tallyhouse serve`. */
  readonly purpose: string
}

/** The launcher's only argument, as JSON. The list of processes shows it, so it holds no secrets. */
export interface LaunchOptions {
  /** The engine's folder, `<DATA_DIR>/clickhouse`. */
  readonly engineDir: string
  readonly port: number
  readonly holder: Holder
}

/** The lock file, opened by the parent and inherited: both processes hold the lock that is put on it. */
export const LOCK_FD = 3

/** The lines that the launcher writes to stdout, in this order. */
export const LOCKED = 'locked'
export const READY = 'ready'

/** The parent's reply to `LOCKED`, once the configuration is written. */
export const START = 'start'

/** Starts each message of the launcher on stderr, to tell it from the engine's own output. */
export const MESSAGE_PREFIX = 'embedded: '

export const EXIT_STOPPED = 0
export const EXIT_FAILED = 1
export const EXIT_IN_USE = 75
export const EXIT_PORT_TAKEN = 76
