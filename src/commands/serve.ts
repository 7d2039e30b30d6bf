/** The command `tallyhouse serve`. */
import { Option } from 'commander'
import { SERVE } from '../clickhouse/open.js'
import type { Role } from '../config.js'
import { createLogger } from '../log.js'
import { ROLES } from '../variables.js'
import type { AddCommand } from './context.js'
import { runService } from './run-service.js'

interface ServeOptions {
  readonly role?: Role
}

export const addServe: AddCommand = (program, context) => {
  program
    .command('serve')
    .description('run the service until it is told to stop')
    .addOption(
      new Option('--role <role>', 'what it does, where that is not what ROLE says').choices(ROLES),
    )
    .action((options: ServeOptions) => {
      const config = { ...context.config(), ...options }
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
