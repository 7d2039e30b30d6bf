/** The command `tallyhouse backup`. */
import { backUpStores } from '../../bootstrap/backups.js'
import { PLACE_HELP } from '../../clickhouse/backup/backup-place.js'
import type { AddCommand } from '../shared/context.js'
import { withStore } from '../shared/with-store.js'

/** What a backup contains, and what it lacks. */
export const CONTENTS = `
A backup has the whole database: events, sessions, users, counts, projects, the list of API keys with their public keys,
the salts of the last days, and events that wait to be loaded. It does not have the private key in DATA_DIR/keys, which
signs new API keys: copy that folder yourself, and keep it apart. Protect a backup as you protect the database.
In a cluster it is a folder per shard, each as of a moment of its own.`

export const addBackup: AddCommand = (program, context) => {
  program
    .command('backup')
    .description('Write a backup of the store, while it is in use')
    .argument('<target>', PLACE_HELP)
    .addHelpText('after', CONTENTS)
    .action((target: string) =>
      withStore(context, 'backup', async (opened) => {
        await backUpStores(opened, target)
        context.print('backup written')
        context.note('the private key in DATA_DIR/keys is not part of it: copy that folder, too')
      }),
    )
}
