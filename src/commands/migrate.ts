/** The command `tallyhouse migrate`. */
import { readMigrationStatus } from '../clickhouse/migrations/migration-status.js'
import { estimateRewrites, type Rewrite } from '../clickhouse/migrations/rewrite-estimate.js'
import { formatCount, formatNumber } from '../lib/counts.js'
import type { AddCommand, CommandContext } from './shared/context.js'
import { nameLines } from './shared/shards.js'
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
  // Opening the stores for writing applies the migrations.
  withStore(context, 'migrate', (opened) => {
    for (const one of opened.stores) {
      const name = nameLines(opened, one)
      if (one.migrated.length === 0) context.print(name('nothing to apply'))
      for (const file of one.migrated) context.print(name(`applied ${file}`))
    }
    return Promise.resolve()
  })

const printPending = (context: CommandContext): Promise<void> =>
  withStore(context, 'migrate --dry-run', async (opened) => {
    for (const one of opened.stores) {
      const name = nameLines(opened, one)
      const { missing } = await readMigrationStatus(one.store.reader)
      if (missing.length === 0) context.print(name('nothing to apply'))
      for (const file of missing) context.print(name(`would apply ${file}`))
      for (const rewrite of await estimateRewrites(one.store.admin, missing)) {
        context.print(name(formatRewrite(rewrite)))
      }
    }
  })

const MB = 1e6

const formatRewrite = ({ table, columns, rows, bytes, seconds }: Rewrite): string =>
  `ClickHouse writes ${columns.join(', ')} of ${formatCount(rows, 'row')} of ${table}: ` +
  `about ${formatCount(seconds, 'second')}, at most ${formatNumber(Math.ceil(bytes / MB))} MB of room for some minutes`
