/** The command `tallyhouse serve`. */
import { Option } from 'commander'
import type { Role } from '../config/config.js'
import { ROLES } from '../config/variables.js'
import type { AddCommand } from './shared/context.js'
import { withServiceLog } from './shared/service-log.js'

interface ServeOptions {
  readonly role?: Role
  /** False with --no-migrate. */
  readonly migrate: boolean
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
    .option(
      '--no-migrate',
      'Refuse a database that is not up to date; the account in CLICKHOUSE_URL then needs no more than the rights to load',
    )
    .action(async ({ migrate, ...options }: ServeOptions) => {
      // Imported here, because it takes longer to load than all other commands together.
      const { runService } = await import('../bootstrap/run-service.js')
      const config = { ...context.config(), ...options }
      await withServiceLog(config.logLevel, (log) =>
        runService({
          config,
          purpose: 'serve',
          ...log,
          now: context.now,
          access: migrate ? 'write' : 'read-rollups',
          onListening: (address) => log.logger.info({ address }, `listening on ${address}`),
        }),
      )
    })
}
