/** Finds the engine that another process runs on a data folder. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Endpoint } from '../endpoint.js'
import { readEngineFile } from './engine-file.js'
import { sendStatement } from './send-statement.js'
import { engineDirOf, isAlive } from './engine-dir.js'

/** Longer than a restart takes. */
const PATIENCE_MS = 3_000

/**
 * The endpoint of a running engine on the folder, which has answered just now; undefined when there
 * is none. Waits a little for one that is being restarted.
 */
export async function findEngine(dataDir: string): Promise<Endpoint | undefined> {
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    const announcement = await readEngineFile(engineDirOf(dataDir))
    if (announcement === undefined || !isAlive(announcement.holder.pid)) return undefined
    if (await answers(announcement.endpoint)) return announcement.endpoint
    if (performance.now() > until) return undefined
    await sleep(50)
  }
}

/** Asks as the reader, so that whatever else has the port meanwhile is not taken for the engine. */
async function answers(endpoint: Endpoint): Promise<boolean> {
  const answer = await sendStatement(endpoint, 'reader', 'SELECT 1', 1_000).catch(() => undefined)
  return answer === '1\n'
}
