/** The protocol between the parent process and the launcher: options, the inherited lock, lines and exit codes. */

/** The process that holds a data folder. A second process that cannot have the folder names it in its error. */
export interface Holder {
  readonly pid: number
  /** The command it runs, e.g. `tallyhouse serve`. */
  readonly purpose: string
}

/** The launcher's only argument, as JSON. The list of processes shows it, so it holds no secrets. */
export interface LaunchOptions {
  /** The engine's folder, `<DATA_DIR>/clickhouse`. */
  readonly engineDir: string
  /** The path of libchdb. */
  readonly library: string
  readonly port: number
  /** The port for other engines; undefined for an engine that is alone. */
  readonly nativePort?: number | undefined
  readonly holder: Holder
}

/** The descriptor of the lock file. The parent opens the file and the launcher inherits it, so both hold its lock. */
export const LOCK_FD = 3

/** The lines that the launcher writes to stdout: first LOCKED, then READY. */
export const LOCKED = 'locked'
export const READY = 'ready'

/** The parent's reply to `LOCKED`, once the configuration is written. */
export const START = 'start'

/** Begins each message of the launcher on stderr. The engine's own output there does not have it. */
export const MESSAGE_PREFIX = 'embedded: '

/** The exit codes of the launcher. */
export const EXIT_STOPPED = 0
export const EXIT_FAILED = 1
export const EXIT_IN_USE = 75
export const EXIT_PORT_TAKEN = 76
