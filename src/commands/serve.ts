/** The command `tallyhouse serve`. */
import { SERVE } from '../clickhouse/open.js'
import { createLogger } from '../log.js'
import type { AddCommand } from './context.js'
import { runService } from './run-service.js'

export const addServe: AddCommand = (program, context) => {
  program
    .command('serve')
    .description('run the service until it is told to stop')
    .action(() => {
      const config = context.config()
      const logger = createLogger(config.logLevel)
      return runService({
        config,
        purpose: SERVE,
        logger,
        now: context.now,
        onListening: (address) => logger.info({ address }, `listening on ${address}`),
      })
    })
}
