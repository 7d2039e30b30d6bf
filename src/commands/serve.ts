/** The command `tallyhouse serve`. */
import { Option } from 'commander'
import { SERVE } from '../bootstrap/open-store.js'
import type { Role } from '../config/config.js'
import { createLogger } from '../lib/log.js'
import { ROLES } from '../config/variables.js'
import type { AddCommand } from './shared/context.js'
import { runService } from '../bootstrap/run-service.js'

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
