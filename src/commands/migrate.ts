/** The command `tallyhouse migrate`. */
import { readMigrationStatus } from '../clickhouse/migrations/migration-status.js'
import { estimateRewrites, type Rewrite } from '../clickhouse/migrations/rewrite-estimate.js'
import type { AddCommand, CommandContext } from './shared/context.js'
import { formatCount, formatNumber } from './shared/output.js'
import { withStore } from './shared/with-store.js'

export const addMigrate: AddCommand = (program, context) => {
  program
    .command('migrate')
    .description('Set up the database or bring it up to date; commands that write do so themselves')
    .option('--dry-run', 'Print what would be done, about how long it takes and the room it needs')
    .action(({ dryRun = false }: { readonly dryRun?: boolean }) =>
      dryRun ? printPending(context) : migrate(context),
    )
}

const migrate = (context: CommandContext): Promise<void> =>
  // Opening the store for writing applies the migrations.
  withStore(context, 'migrate', ({ migrated }) => {
    if (migrated.length === 0) context.print('nothing to apply')
    for (const name of migrated) context.print(`applied ${name}`)
    return Promise.resolve()
  })

const printPending = (context: CommandContext): Promise<void> =>
  withStore(context, 'migrate --dry-run', async ({ store }) => {
    const { missing } = await readMigrationStatus(store.reader)
    if (missing.length === 0) context.print('nothing to apply')
    for (const name of missing) context.print(`would apply ${name}`)
    for (const rewrite of await estimateRewrites(store.admin, missing)) {
      context.print(formatRewrite(rewrite))
    }
  })

const MB = 1e6

const formatRewrite = ({ table, columns, rows, bytes, seconds }: Rewrite): string =>
  `ClickHouse writes ${columns.join(', ')} of ${formatCount(rows, 'row')} of ${table}: ` +
  `about ${formatCount(seconds, 'second')}, at most ${formatNumber(Math.ceil(bytes / MB))} MB of room for some minutes`
