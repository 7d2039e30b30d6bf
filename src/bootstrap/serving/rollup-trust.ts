/** Watches whether the rollups of the store are those of this build: another version may rebuild them at any time. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../../clickhouse/connection.js'
import type { Logger } from '../../lib/log.js'
import { readRollupState, STATE_INTERVAL_MS, STATE_NOTICE_MS } from '../../rollups/progress.js'

/** After this long without reading it, the state is unknown. A process that abandons the rollups waits exactly this long for services to notice. */
const STATE_LIFETIME_MS = STATE_NOTICE_MS

export interface RollupTrust {
  /** Whether queries may read the rollups. If not, they read the events and sessions: slower, and right. */
  isTrusted(): boolean
  stop(): void
}

/** Reads the state once, then starts to watch. */
export async function watchRollups(reader: Connection, logger: Logger): Promise<RollupTrust> {
  const stopped = new AbortController()
  let isCurrent: boolean | undefined
  let readAt = -Infinity
  const read = async (): Promise<void> => {
    const begun = performance.now()
    const found = (await readRollupState(reader)) === 'current'
    readAt = begun
    if (found !== isCurrent && (isCurrent !== undefined || !found)) {
      if (found) logger.info('the rollups are complete: queries read them again')
      else logger.warn('the rollups are not those of this version: queries read the events instead')
    }
    isCurrent = found
  }
  // A store that does not answer this does not answer queries either.
  const tryToRead = (): Promise<void> => read().catch(() => undefined)
  const watch = async (): Promise<void> => {
    for (;;) {
      await sleep(STATE_INTERVAL_MS, undefined, { ref: false, signal: stopped.signal })
      await tryToRead()
    }
  }
  await tryToRead()
  watch().catch(() => undefined)
  return {
    isTrusted: () => isCurrent === true && performance.now() - readAt < STATE_LIFETIME_MS,
    stop: () => stopped.abort(),
  }
}
