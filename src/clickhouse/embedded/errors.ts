/** What can go wrong with the embedded engine, as its callers may tell apart. */
import type { Holder } from './launcher/protocol.js'

/** Another process has its engine on the folder. */
export class DataDirInUseError extends Error {
  readonly dataDir: string
  /** Absent when the other process has not said who it is. */
  readonly holder: Holder | undefined

  constructor(dataDir: string, holder: Holder | undefined) {
    const who =
      holder === undefined ? 'another process' : `process ${holder.pid} (${holder.purpose})`
    super(`the data folder ${dataDir} is in use by ${who}`)
    this.name = 'DataDirInUseError'
    this.dataDir = dataDir
    this.holder = holder
  }
}

/** The engine's process ended before it was ready, or without being asked to. */
export class EngineError extends Error {
  readonly exitCode: number | null

  constructor(reason: string, exitCode: number | null = null) {
    super(`the embedded ClickHouse ${reason}`)
    this.name = 'EngineError'
    this.exitCode = exitCode
  }
}
