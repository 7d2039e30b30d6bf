/** Starts the embedded engine on a data folder and answers for it until it is stopped. */
import type { Endpoint } from '../endpoint.js'
import { writeEngineFile, removeEngineFile } from './engine-file.js'
import { sendStatement } from './send-statement.js'
import { writeConfiguration } from './configuration.js'
import { launch, type EngineProcess } from './engine-process.js'
import { repairDedupLogs } from './repair-dedup-log.js'
import { startFirst, type FirstStart } from './first-start.js'
import { engineDirOf, openLock } from './engine-dir.js'
import { availableMemory, limitsFor } from './limits.js'
import { supervise, type EngineEvent } from './supervisor.js'

export { DataDirInUseError, EngineError } from './errors.js'
export { findEngine } from './find-engine.js'
export type { EngineEvent } from './supervisor.js'

export interface EngineOptions {
  /** The service's data folder; the engine uses `clickhouse/` in it. */
  readonly dataDir: string
  /** What this process does, for those it keeps waiting, e.g. `tallyhouse serve`. */
  readonly purpose: string
  readonly onEvent?: (event: EngineEvent) => void
}

export interface Engine {
  /** The same over all restarts. */
  readonly endpoint: Endpoint
  /** The engine's process of the moment. */
  readonly pid: number
  /** Resolves when restarting is given up; the engine is then gone for good. */
  readonly failed: Promise<Error>
  /** Ends the engine; close the clients first. Resolves when its process is gone. */
  stop(): Promise<void>
}

const KILL_SELECTS = `KILL QUERY WHERE query_kind = 'Select' AND query_id != queryID() ASYNC`

/**
 * Starts an engine on the folder and keeps it running. Rejects with a DataDirInUseError when another
 * process has the folder, and with an EngineError when the engine does not start.
 */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const { dataDir, purpose, onEvent = () => undefined } = options
  const begun = performance.now()
  const home = engineDirOf(dataDir)
  const holder = { pid: process.pid, purpose }
  const limits = limitsFor(availableMemory())
  const lock = await openLock(home)
  const stopping = new AbortController()
  const stop = stopping.signal

  const start: Start = (endpoint, onLocked) =>
    launch(
      { home, port: Number(new URL(endpoint.url).port), holder },
      {
        lock: lock.fd,
        stop,
        async onLocked(pid) {
          await writeConfiguration(home, endpoint, limits)
          await repairDedupLogs(home)
          await onLocked(pid)
        },
      },
    )

  let first: FirstStart | undefined
  try {
    first = await startFirst(dataDir, (endpoint) => start(endpoint, () => removeEngineFile(home)))
    const { endpoint, engine } = first
    await sendStatement(
      endpoint,
      'admin',
      `CREATE DATABASE IF NOT EXISTS ${endpoint.database}`,
      60_000,
    )
    await writeEngineFile(home, { holder, enginePid: engine.pid, endpoint })
    onEvent({ kind: 'started', pid: engine.pid, milliseconds: elapsed(begun) })

    let { pid } = engine
    const restart = (): Promise<EngineProcess> =>
      start(endpoint, async (enginePid) => {
        pid = enginePid
        await writeEngineFile(home, { holder, enginePid, endpoint })
      })
    const over = supervise(engine, { start: restart, stop, onEvent }).finally(() => lock.close())

    const end = async (): Promise<void> => {
      await removeEngineFile(home)
      await sendStatement(endpoint, 'admin', KILL_SELECTS, 500).catch(() => undefined)
      stopping.abort()
      await over
      onEvent({ kind: 'stopped' })
    }
    let ending: Promise<void> | undefined
    return {
      endpoint,
      get pid() {
        return pid
      },
      failed: failureOf(over, home),
      stop: () => (ending ??= end()),
    }
  } catch (error) {
    stopping.abort()
    await first?.engine.ended
    await lock.close()
    throw error
  }
}

/** Starts a process; `onLocked` is called with its id once the folder is its own. */
type Start = (
  endpoint: Endpoint,
  onLocked: (pid: number) => Promise<void>,
) => Promise<EngineProcess>

/** Resolves only if the supervision ends in a failure. */
function failureOf(over: Promise<Error | undefined>, home: string): Promise<Error> {
  return new Promise((resolve) => {
    void over.then(async (failure) => {
      if (failure === undefined) return
      await removeEngineFile(home)
      resolve(failure)
    })
  })
}

const elapsed = (since: number): number => Math.round(performance.now() - since)
