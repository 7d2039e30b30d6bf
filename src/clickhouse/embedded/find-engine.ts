/** Finds the engine that another process runs on a data folder. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Endpoint } from '../endpoint.js'
import { getEngineDir, isAlive } from './engine-dir.js'
import { readEngineFile } from './engine-file.js'
import { sendStatement } from './send-statement.js'

/** Longer than a restart takes, on a busy machine too. */
const RESTART_TIMEOUT_MS = 10_000
const POLL_INTERVAL_MS = 50
const RESPONSE_TIMEOUT_MS = 1_000

/**
 * Returns the endpoint of the engine that runs on the folder, once it answers a query; undefined when none runs.
 * Waits up to 10 seconds for an engine that is being restarted.
 */
export async function findEngine(dataDir: string): Promise<Endpoint | undefined> {
  const until = performance.now() + RESTART_TIMEOUT_MS
  for (;;) {
    const found = await readEngineFile(getEngineDir(dataDir))
    if (found === undefined || !isAlive(found.holder.pid)) return undefined
    if (await isAnswering(found.endpoint)) return found.endpoint
    if (performance.now() > until) return undefined
    await sleep(POLL_INTERVAL_MS)
  }
}

/** Sends a query as the reader. Only the engine accepts its password, not another process on the same port. */
async function isAnswering(endpoint: Endpoint): Promise<boolean> {
  const answer = await sendStatement(endpoint, 'reader', 'SELECT 1', RESPONSE_TIMEOUT_MS).catch(
    () => undefined,
  )
  return answer === '1\n'
}
