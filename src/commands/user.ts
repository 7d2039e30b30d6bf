/** The command `tallyhouse user delete`. */
import { readUserHoldings } from '../deletion/holdings.js'
import { createUnknownUserError, deleteUser } from '../deletion/delete-user.js'
import { requireProject } from '../projects/store.js'
import { withStore, type AddCommand } from './shared/context.js'
import { namedUser, unconfirmed, YES, type DeleteOptions } from './shared/deletion.js'

interface UserOptions extends DeleteOptions {
  readonly project: string
}

export const addUser: AddCommand = (program, context) => {
  const user = program.command('user').description('delete users of projects')

  user
    .command('delete')
    .description('delete a user with all events, and take them out of every count')
    .argument('<user_id>', 'as events name the user, or anonymous-… where they do not')
    .requiredOption('--project <id>', 'the project of the user')
    .option('--yes', YES)
    .action((userId: string, { project, yes }: UserOptions) =>
      withStore(context, 'tallyhouse user', async ({ store, loader }) => {
        if (yes !== true) {
          await requireProject(store.reader, project)
          const found = await readUserHoldings(store.reader, project, userId)
          if (found === undefined) throw createUnknownUserError(project, userId)
          throw unconfirmed(namedUser(userId, project, found))
        }
        const removed = await deleteUser(store, project, userId, loader)
        context.print(`deleted ${namedUser(userId, project, removed)}`)
      }),
    )
}
