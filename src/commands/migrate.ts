/** The command `tallyhouse migrate`. */
import type { AddCommand } from './shared/context.js'
import { withStore } from './shared/with-store.js'

export const addMigrate: AddCommand = (program, context) => {
  program
    .command('migrate')
    .description('Set up the database or bring it up to date; commands that write do so themselves')
    .action(() =>
      // Opening the store for writing applies the migrations.
      withStore(context, 'migrate', ({ migrated }) => {
        if (migrated.length === 0) context.print('nothing to apply')
        for (const name of migrated) context.print(`applied ${name}`)
        return Promise.resolve()
      }),
    )
}
