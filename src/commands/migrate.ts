/** The command `tallyhouse migrate`. */
import { withStore, type AddCommand } from './shared/context.js'

export const addMigrate: AddCommand = (program, context) => {
  program
    .command('migrate')
    .description('bring the database up to date; every other command does so too')
    .action(async () => {
      const { migrated } = await withStore(context, 'tallyhouse migrate', (service) =>
        Promise.resolve(service),
      )
      if (migrated.length === 0) context.print('nothing to apply')
      for (const name of migrated) context.print(`applied ${name}`)
    })
}
