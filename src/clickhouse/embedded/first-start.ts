/** The first start of an engine: it finds a free port, and waits for a predecessor that is leaving. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Endpoint } from '../endpoint.js'
import type { EngineProcess } from './engine-process.js'
import { DataDirInUseError, EngineError } from './errors.js'
import { engineDirOf, isAlive, readHolder } from './engine-dir.js'
import { EXIT_IN_USE, EXIT_PORT_TAKEN } from './launcher/protocol.js'
import { newEndpoint } from './new-endpoint.js'

export interface FirstStart {
  readonly endpoint: Endpoint
  readonly engine: EngineProcess
}

/** A process that was killed leaves its engine behind for a moment. */
const HANDOVER_MS = 15_000
const PORTS_TO_TRY = 5

/** Starts an engine on a new endpoint; rejects with a DataDirInUseError when a living process has the folder. */
export async function startFirst(
  dataDir: string,
  start: (endpoint: Endpoint) => Promise<EngineProcess>,
): Promise<FirstStart> {
  const until = performance.now() + HANDOVER_MS
  let taken = 0
  for (;;) {
    const endpoint = await newEndpoint()
    try {
      return { endpoint, engine: await start(endpoint) }
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
      if (error.exitCode === EXIT_IN_USE) await waitForHolder(dataDir, until)
      else if (error.exitCode !== EXIT_PORT_TAKEN || ++taken === PORTS_TO_TRY) throw error
    }
  }
}

/** Waits a little for a dead process's engine to end; throws when the holder lives, or time is up. */
async function waitForHolder(dataDir: string, until: number): Promise<void> {
  const holder = await readHolder(engineDirOf(dataDir))
  const isLeaving = holder === undefined || !isAlive(holder.pid)
  if (!isLeaving || performance.now() > until) throw new DataDirInUseError(dataDir, holder)
  await sleep(100)
}
