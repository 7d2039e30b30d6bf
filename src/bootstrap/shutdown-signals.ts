/** Tells when this process should end. */
import { constants } from 'node:os'
import type { Logger } from '../lib/log.js'

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** Ending takes 8 seconds at most; whatever holds it up longer is left behind. */
const LAST_MOMENT_MS = 9_500

/**
 * Resolves at the first signal with undefined, or with the error that nothing caught. A second
 * signal ends the process at once: an embedded engine notices, and ends by itself.
 */
export function waitForShutdown(logger: Logger): Promise<Error | undefined> {
  return new Promise((resolve) => {
    let isEnding = false
    const end = (failure: Error | undefined): void => {
      if (isEnding) return
      isEnding = true
      const code = failure === undefined ? 0 : 1
      setTimeout(() => process.exit(code), LAST_MOMENT_MS).unref()
      resolve(failure)
    }
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (isEnding) process.exit(128 + constants.signals[signal])
        logger.info({ signal }, 'stopping')
        end(undefined)
      })
    }
    const crash =
      (kind: string) =>
      (thrown: unknown): void => {
        const error = thrown instanceof Error ? thrown : new Error(String(thrown))
        logger.fatal({ err: error }, kind)
        end(error)
      }
    process.on('uncaughtException', crash('uncaught exception'))
    process.on('unhandledRejection', crash('unhandled rejection'))
  })
}
