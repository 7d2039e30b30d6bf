/** Starts an engine for the first time: finds a free port, and waits for an engine that is still ending. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Endpoint } from '../endpoint.js'
import { getEngineDir, isAlive, readHolder } from './engine-dir.js'
import { EngineError, type EngineProcess } from './engine-process.js'
import { EXIT_IN_USE, EXIT_PORT_TAKEN, type Holder } from './launcher/protocol.js'
import { createEndpoint } from './new-endpoint.js'

/** Another process runs its engine on the folder. */
export class DataDirInUseError extends Error {
  override readonly name = 'DataDirInUseError'
  readonly dataDir: string
  /** Undefined when the other process has not recorded itself. */
  readonly holder: Holder | undefined

  constructor(dataDir: string, holder: Holder | undefined) {
    const user =
      holder === undefined ? 'another process' : `process ${holder.pid} (${holder.purpose})`
    super(`the data folder ${dataDir} is in use by ${user}`)
    this.dataDir = dataDir
    this.holder = holder
  }
}

export interface FirstStart {
  readonly endpoint: Endpoint
  readonly engine: EngineProcess
}

/** The engine of a killed process needs a moment to end. */
const HANDOVER_TIMEOUT_MS = 15_000
const HANDOVER_INTERVAL_MS = 100
const MAX_PORTS = 5

/**
 * Starts an engine on a new endpoint. Tries up to 5 ports, and waits up to 15 seconds for the engine of a dead process.
 *
 * @param given the endpoint, if it may be no other
 * @throws DataDirInUseError when a living process holds the folder, EngineError when the engine does not start
 */
export async function startFirst(
  dataDir: string,
  start: (endpoint: Endpoint) => Promise<EngineProcess>,
  given?: Endpoint,
): Promise<FirstStart> {
  const until = performance.now() + HANDOVER_TIMEOUT_MS
  let takenPorts = 0
  for (;;) {
    const endpoint = given ?? (await createEndpoint())
    try {
      return { endpoint, engine: await start(endpoint) }
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
      if (error.exitCode === EXIT_IN_USE) await waitForHolder(dataDir, until)
      else if (error.exitCode !== EXIT_PORT_TAKEN || given !== undefined) throw error
      else if (++takenPorts === MAX_PORTS) throw error
    }
  }
}

/**
 * Waits a moment for the engine of a dead process to end.
 *
 * @throws DataDirInUseError when its holder is alive or the time is up
 */
async function waitForHolder(dataDir: string, until: number): Promise<void> {
  const holder = await readHolder(getEngineDir(dataDir))
  const isEnding = holder === undefined || !isAlive(holder.pid)
  if (!isEnding || performance.now() > until) throw new DataDirInUseError(dataDir, holder)
  await sleep(HANDOVER_INTERVAL_MS)
}
