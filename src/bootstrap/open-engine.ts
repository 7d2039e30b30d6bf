/** Opens the embedded engine of a data folder: one that another process runs, or one that this process starts. */
import { access as checkAccess } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { findLibrary } from '../clickhouse/embedded/engine-package.js'
import { readEngineFile } from '../clickhouse/embedded/engine-file.js'
import { getEngineDir, isAlive } from '../clickhouse/embedded/engine-dir.js'
import {
  DataDirInUseError,
  EngineError,
  findEngine,
  startEngine,
  type Engine,
  type EngineEvent,
} from '../clickhouse/embedded/engine.js'
import type { EngineMember } from '../clickhouse/embedded/member.js'
import type { Holder } from '../clickhouse/embedded/launcher/protocol.js'
import type { Endpoint } from '../clickhouse/endpoint.js'

/** The processes that run the service, by the purpose in the data folder's lock file. Other commands use their engine. */
export const SERVICE_PURPOSES = {
  serve: 'tallyhouse serve',
  demo: 'tallyhouse demo',
} as const

export interface OpenEngineOptions {
  readonly dataDir: string
  /** The command of this process, such as `tallyhouse migrate`, for the errors of others that need the data folder. */
  readonly purpose: string
  /** For an engine that has others beside it. */
  readonly member?: EngineMember | undefined
  /** True for a process that must not share another one's engine. Default: false. */
  readonly ownEngine?: boolean
  readonly onEvent?: (event: EngineEvent) => void
  /** Ends the wait for another process. */
  readonly stop?: AbortSignal
}

export interface OpenedEngine {
  readonly endpoint: Endpoint
  /** The engine that this process runs, or will run when a command ends; undefined when it uses a service's. */
  readonly engine: Engine | undefined
}

/** Covers a short command that holds the data folder, and a service that is starting. */
const DATA_DIR_TIMEOUT_MS = 15_000
const POLL_INTERVAL_MS = 200
/** How often an engine is started that a signal ends before it is ready, as when memory is short. */
const MAX_STARTS = 3

/**
 * Connects to the engine of the service that runs on the data folder, or starts one. Commands wait up to 15 seconds while
 * another command holds the folder: its engine is not shared, because it stops with that command. A service uses the engine
 * of a command, and replaces it when the command ends. An engine that is killed while it starts is started again.
 *
 * @throws NoEngineError when this machine has no engine; DataDirInUseError when another process still holds the data folder
 *   then, or a service does and `ownEngine` is set
 */
export async function openEngine(options: OpenEngineOptions): Promise<OpenedEngine> {
  const { ownEngine = false, stop, ...engineOptions } = options
  const deadline = performance.now() + DATA_DIR_TIMEOUT_MS
  let starts = 0
  for (;;) {
    const endpoint = ownEngine ? undefined : await findServiceEngine(options.dataDir)
    if (endpoint !== undefined) return { endpoint, engine: undefined }
    const borrowed = await findCommandEngine(options)
    if (borrowed !== undefined) return replaceLater(borrowed, engineOptions)
    try {
      const engine = await startEngine(engineOptions)
      return { endpoint: engine.endpoint, engine }
    } catch (error) {
      if (error instanceof DataDirInUseError) {
        const isHeldByService = ownEngine && isService(error.holder?.purpose)
        if (isHeldByService || performance.now() > deadline) throw error
      } else {
        if (!wasKilled(error) || ++starts === MAX_STARTS) throw error
      }
    }
    await sleep(POLL_INTERVAL_MS, undefined, { signal: stop })
  }
}

/**
 * Returns whether an engine was ever started on the data folder.
 *
 * @throws NoEngineError when none was, because this machine has no engine
 */
export const hasEngine = (dataDir: string): Promise<boolean> =>
  checkAccess(getEngineDir(dataDir)).then(
    () => true,
    () => {
      findLibrary()
      return false
    },
  )

/** The commands whose engine no service uses: the store is not complete while they run. */
const EXCLUSIVE_PURPOSES: readonly string[] = ['tallyhouse restore']

/**
 * Finds the engine of a command, for a service. Engines that have others beside them are told each other's addresses when they
 * start, so they cannot be replaced one by one: none is found for them.
 */
async function findCommandEngine({
  dataDir,
  purpose,
  member,
}: OpenEngineOptions): Promise<{ endpoint: Endpoint; holder: Holder; pid: number } | undefined> {
  const file = await readEngineFile(getEngineDir(dataDir))
  if (file === undefined || member !== undefined || !isService(purpose)) return undefined
  const { holder, enginePid: pid } = file
  if (isService(holder.purpose) || EXCLUSIVE_PURPOSES.includes(holder.purpose)) return undefined
  const endpoint = await findEngine(dataDir)
  return endpoint === undefined ? undefined : { endpoint, holder, pid }
}

/**
 * Uses the engine of a command, and starts one with the same address and accounts when the command has ended. Until then
 * statements fail as during a restart.
 */
function replaceLater(
  { endpoint, holder, pid }: { endpoint: Endpoint; holder: Holder; pid: number },
  options: Omit<OpenEngineOptions, 'ownEngine' | 'stop'>,
): OpenedEngine {
  const closing = new AbortController()
  options.onEvent?.({ kind: 'borrowed', pid, from: `process ${holder.pid} (${holder.purpose})` })
  const replace = async (): Promise<Engine | undefined> => {
    for (;;) {
      await sleep(POLL_INTERVAL_MS, undefined, { signal: closing.signal }).catch(() => undefined)
      if (closing.signal.aborted) return undefined
      if (await isHeld(options.dataDir)) continue
      try {
        return await startEngine({ ...options, endpoint })
      } catch (error) {
        if (!(error instanceof DataDirInUseError) && !wasKilled(error)) throw error
      }
    }
  }
  let own: Engine | undefined
  const replaced = replace().then((engine) => (own = engine))
  return {
    endpoint,
    engine: {
      endpoint,
      get pid() {
        return own?.pid ?? pid
      },
      failed: replaced.then(
        (engine) => engine?.failed ?? new Promise<never>(() => undefined),
        (error: unknown) => error as Error,
      ),
      stop: async () => {
        closing.abort()
        await (await replaced.catch(() => undefined))?.stop()
      },
    },
  }
}

/** Returns whether a living process says that it runs the engine. An attempt to start one would cost a process each time. */
async function isHeld(dataDir: string): Promise<boolean> {
  const engineFile = await readEngineFile(getEngineDir(dataDir))
  return engineFile !== undefined && isAlive(engineFile.holder.pid)
}

async function findServiceEngine(dataDir: string): Promise<Endpoint | undefined> {
  const engineFile = await readEngineFile(getEngineDir(dataDir))
  return isService(engineFile?.holder.purpose) ? findEngine(dataDir) : undefined
}

const isService = (purpose: string | undefined): boolean =>
  Object.values<string | undefined>(SERVICE_PURPOSES).includes(purpose)

/** Whether a signal ended an engine before it was ready, as when memory is short. */
const wasKilled = (error: unknown): boolean => error instanceof EngineError && error.signal !== null
