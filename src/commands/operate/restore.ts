/** The command `tallyhouse restore`. */
import { restoreStores } from '../../bootstrap/backups.js'
import { PLACE_HELP } from '../../clickhouse/backup/backup-place.js'
import type { AddCommand } from '../shared/context.js'
import { withStore } from '../shared/with-store.js'
import { CONTENTS } from './backup.js'

export const addRestore: AddCommand = (program, context) => {
  program
    .command('restore')
    .description('Restore a backup into an empty store, whose database has the same name')
    .argument('<source>', PLACE_HELP)
    .addHelpText('after', CONTENTS)
    .action(async (source: string) => {
      await restoreStores(context.config(), source)
      // Opening the store for writing brings a backup of an older version up to date.
      await withStore(context, 'restore', () => Promise.resolve())
      context.print('backup restored')
      context.note('restore DATA_DIR/keys as well, to issue API keys with the same private key')
    })
}
