/** The command `tallyhouse serve`. */
import { Option } from 'commander'
import { runService } from '../bootstrap/run-service.js'
import type { Role } from '../config/config.js'
import { ROLES } from '../config/variables.js'
import type { AddCommand } from './shared/context.js'
import { withServiceLog } from './shared/service-log.js'

interface ServeOptions {
  readonly role?: Role
}

export const addServe: AddCommand = (program, context) => {
  program
    .command('serve')
    .description('Run the service until a signal stops it')
    .addOption(
      new Option(
        '--role <role>',
        'What to run: api answers queries, collector accepts events, all does both (default: the value of ROLE)',
      ).choices(ROLES),
    )
    .action((options: ServeOptions) => {
      const config = { ...context.config(), ...options }
      return withServiceLog(config.logLevel, (log) =>
        runService({
          config,
          purpose: 'serve',
          ...log,
          now: context.now,
          onListening: (address) => log.logger.info({ address }, `listening on ${address}`),
        }),
      )
    })
}
