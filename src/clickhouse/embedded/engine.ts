/** Starts the embedded engine on a data folder and keeps it running until it is stopped. */
import type { FileHandle } from 'node:fs/promises'
import type { Endpoint } from '../endpoint.js'
import { writeConfiguration } from './configuration.js'
import { getEngineDir, openLock } from './engine-dir.js'
import { removeEngineFile, writeEngineFile } from './engine-file.js'
import { findLibrary } from './engine-package.js'
import { launch, type EngineProcess } from './engine-process.js'
import { startFirst, type FirstStart } from './first-start.js'
import type { Holder } from './launcher/protocol.js'
import { getPort, type EngineMember } from './member.js'
import { computeLimits, readAvailableMemory, type Limits } from './limits.js'
import { repairDedupLogs } from './repair-dedup-log.js'
import { sendStatement } from './send-statement.js'
import { supervise, type EngineEvent } from './supervisor.js'

export { NoEngineError } from './engine-package.js'
export { EngineError } from './engine-process.js'
export { findEngine } from './find-engine.js'
export { DataDirInUseError } from './first-start.js'
export type { EngineEvent } from './supervisor.js'

interface EngineOptions {
  /** The data folder of the service; the engine uses `clickhouse/` in it. */
  readonly dataDir: string
  /** The command of this process, e.g. `tallyhouse serve`. A second process names it in its DataDirInUseError. */
  readonly purpose: string
  /** For an engine that has others beside it; left out for one that is alone. */
  readonly member?: EngineMember | undefined
  /** The address and accounts of an engine that this one follows; new ones if left out. */
  readonly endpoint?: Endpoint
  readonly onEvent?: (event: EngineEvent) => void
}

export interface Engine {
  /** The same across all restarts. */
  readonly endpoint: Endpoint
  /** The engine's current process. */
  readonly pid: number
  /** Resolves with the last error when the engine could not be restarted; never otherwise. */
  readonly failed: Promise<Error>
  /** Stops the engine; close the clients first. Resolves when its process has ended. */
  stop(): Promise<void>
}

/** Shared by all processes of one engine: that of the first start and those of restarts. */
interface EngineContext {
  readonly engineDir: string
  /** The path of libchdb. */
  readonly library: string
  readonly holder: Holder
  readonly limits: Limits
  readonly lock: FileHandle
  readonly stopping: AbortController
  readonly member: EngineMember | undefined
  readonly onEvent: (event: EngineEvent) => void
}

const CREATE_TIMEOUT_MS = 60_000
const KILL_SELECTS = `KILL QUERY WHERE query_kind = 'Select' AND query_id != queryID() ASYNC`
const KILL_SELECTS_TIMEOUT_MS = 500

/**
 * Starts an engine on the folder and keeps it running.
 *
 * @throws NoEngineError when this machine has no engine, DataDirInUseError when another process holds the folder, EngineError
 *   when the engine does not start
 */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const { dataDir, purpose, member, endpoint: given, onEvent = () => undefined } = options
  const begun = performance.now()
  const library = findLibrary()
  const engineDir = getEngineDir(dataDir)
  const context: EngineContext = {
    engineDir,
    library,
    holder: { pid: process.pid, purpose },
    limits: computeLimits(readAvailableMemory()),
    lock: await openLock(engineDir),
    stopping: new AbortController(),
    member,
    onEvent,
  }
  let first: FirstStart | undefined
  try {
    first = await startFirst(
      dataDir,
      (endpoint) => launchEngine(context, endpoint, () => removeEngineFile(engineDir)),
      given ?? member?.endpoint,
    )
    const { endpoint, engine } = first
    const create = `CREATE DATABASE IF NOT EXISTS ${endpoint.database}`
    await sendStatement(endpoint, 'admin', create, CREATE_TIMEOUT_MS)
    await publishEngine(context, endpoint, engine.pid)
    const milliseconds = Math.round(performance.now() - begun)
    onEvent({ kind: 'started', pid: engine.pid, milliseconds })
    return superviseEngine(context, first)
  } catch (error) {
    context.stopping.abort()
    const end = await first?.engine.ended
    await context.lock.close()
    // A statement fails because the engine ended: that is the cause.
    throw end ?? error
  }
}

/**
 * Starts a process of the engine and waits until it is ready.
 *
 * @param onLocked called with the id of the process once the folder is locked, configured and repaired
 */
function launchEngine(
  { engineDir, library, holder, limits, lock, stopping, member }: EngineContext,
  endpoint: Endpoint,
  onLocked: (pid: number) => Promise<void>,
): Promise<EngineProcess> {
  return launch(
    { engineDir, library, port: getPort(endpoint), nativePort: member?.nativePort, holder },
    {
      lock: lock.fd,
      stop: stopping.signal,
      async onLocked(pid) {
        await writeConfiguration(engineDir, endpoint, limits, member?.groups)
        await repairDedupLogs(engineDir)
        await onLocked(pid)
      },
    },
  )
}

/** Lets other processes find the engine. */
const publishEngine = (
  { engineDir, holder }: EngineContext,
  endpoint: Endpoint,
  enginePid: number,
): Promise<void> => writeEngineFile(engineDir, { holder, enginePid, endpoint })

/** Restarts the engine whenever it ends, until it is stopped. */
function superviseEngine(context: EngineContext, { endpoint, engine }: FirstStart): Engine {
  const { engineDir, lock, stopping, onEvent } = context
  let { pid } = engine
  const start = (): Promise<EngineProcess> =>
    launchEngine(context, endpoint, async (enginePid) => {
      pid = enginePid
      await publishEngine(context, endpoint, enginePid)
    })
  const supervision = { start, stop: stopping.signal, onEvent }
  const ended = supervise(engine, supervision).finally(() => lock.close())

  const stop = async (): Promise<void> => {
    await removeEngineFile(engineDir)
    await sendStatement(endpoint, 'admin', KILL_SELECTS, KILL_SELECTS_TIMEOUT_MS).catch(
      () => undefined,
    )
    stopping.abort()
    await ended
    onEvent({ kind: 'stopped' })
  }
  let stopped: Promise<void> | undefined
  return {
    endpoint,
    get pid() {
      return pid
    },
    failed: waitForFailure(ended, engineDir),
    stop: () => (stopped ??= stop()),
  }
}

/** Resolves when the supervision ends in a failure. If it ends otherwise, this never resolves. */
function waitForFailure(ended: Promise<Error | undefined>, engineDir: string): Promise<Error> {
  return new Promise((resolve) => {
    void ended.then(async (failure) => {
      if (failure === undefined) return
      await removeEngineFile(engineDir)
      resolve(failure)
    })
  })
}
