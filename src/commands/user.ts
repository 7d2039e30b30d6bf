/** The command `tallyhouse user delete`. */
import type { OpenedCluster } from '../bootstrap/open-cluster.js'
import {
  createUnknownUserError,
  deleteUserFromShards,
  sumUserHoldings,
} from '../deletion/delete-user.js'
import { readUserHoldings } from '../deletion/holdings.js'
import { requireProject } from '../projects/store.js'
import type { AddCommand } from './shared/context.js'
import {
  describeUser,
  createUnconfirmedError,
  YES_HELP,
  type DeleteOptions,
} from './shared/deletion.js'
import { createResidenceCheck } from '../relocation/describe.js'
import { findStores, requireShards } from './shared/shards.js'
import { withStore } from './shared/with-store.js'

interface UserOptions extends DeleteOptions {
  readonly project: string
}

export const addUser: AddCommand = (program, context) => {
  const user = program.command('user').description('Delete users')

  user
    .command('delete')
    .description('Delete a user with all events and sessions, and correct all counts')
    .argument('<user_id>', 'Id of the user, as in the events; anonymous-… for a user without an id')
    .requiredOption('--project <id>', 'Project of the user')
    .option('--yes', YES_HELP)
    .action((userId: string, { project, yes = false }: UserOptions) =>
      yes
        ? withStore(context, 'user delete --yes', async (opened) => {
            const check = await findResidenceCheck(opened, project)
            await check()
            const stores = await findStores(opened, project)
            const deleted = await deleteUserFromShards(stores, project, userId, check)
            context.print(`deleted ${describeUser(userId, project, deleted)}`)
          })
        : withStore(context, 'user delete', (opened) => refuseUnconfirmed(opened, project, userId)),
    )
}

/** Returns the check that the project still lives where it does now. A single store is not asked. */
const findResidenceCheck = async (
  { cluster }: OpenedCluster,
  id: string,
): Promise<() => Promise<void>> => {
  if (cluster.shards.length === 1) return () => Promise.resolve()
  return createResidenceCheck(cluster, await requireProject(cluster.home.store.writer, id))
}

/**
 * Reports what would be deleted.
 *
 * @throws UserError always: it asks for `--yes`, or reports that the user does not exist
 */
async function refuseUnconfirmed(
  { store, cluster }: OpenedCluster,
  project: string,
  userId: string,
): Promise<never> {
  const shards = requireShards(cluster, await requireProject(store.reader, project))
  const found = await Promise.all(
    shards.map((shard) => readUserHoldings(shard.store.reader, project, userId)),
  )
  const holdings = sumUserHoldings(found)
  if (holdings === undefined) throw createUnknownUserError(project, userId)
  throw createUnconfirmedError(describeUser(userId, project, holdings))
}
