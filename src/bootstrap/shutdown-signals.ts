/** Waits for the signal, or the uncaught error, that ends this process. */
import { constants } from 'node:os'
import type { Logger } from '../lib/log.js'

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** A shutdown should take at most 8 seconds. After this long the process exits without waiting for the rest. */
const SHUTDOWN_TIMEOUT_MS = 9_500

/**
 * Resolves with undefined at the first signal, or with the error at the first uncaught error. At a second signal the
 * process exits at once. An embedded engine then notices that its parent died, and stops by itself.
 */
export function waitForShutdown(logger: Logger): Promise<Error | undefined> {
  return new Promise((resolve) => {
    let isShuttingDown = false
    const shutDown = (failure: Error | undefined): void => {
      if (isShuttingDown) return
      isShuttingDown = true
      const code = failure === undefined ? 0 : 1
      setTimeout(() => process.exit(code), SHUTDOWN_TIMEOUT_MS).unref()
      resolve(failure)
    }
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (isShuttingDown) process.exit(128 + constants.signals[signal])
        logger.info({ signal }, 'stopping')
        shutDown(undefined)
      })
    }
    const crash = (message: string, thrown: unknown): void => {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      logger.fatal({ err: error }, message)
      shutDown(error)
    }
    process.on('uncaughtException', (error) => crash('uncaught exception', error))
    process.on('unhandledRejection', (reason) => crash('unhandled rejection', reason))
  })
}
