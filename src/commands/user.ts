/** The command `tallyhouse user delete`. */
import { createReadStream } from 'node:fs'
import { text } from 'node:stream/consumers'
import type { OpenedCluster } from '../bootstrap/open-cluster.js'
import {
  createUnknownUsersError,
  hideUsersFromShards,
  requireUserIds,
  sumUserHoldings,
  type UsersHoldings,
} from '../deletion/delete-users.js'
import { readUserHoldings } from '../deletion/holdings.js'
import { recordUserDeletion } from '../management/audit-log.js'
import { formatCount } from '../lib/counts.js'
import { requireProject } from '../projects/store.js'
import { getManagement, type AddCommand, type CommandContext } from './shared/context.js'
import {
  describeUsers,
  createUnconfirmedError,
  YES_HELP,
  WAIT_HELP,
  describeLeftRows,
  mayLeaveRows,
  type DeleteOptions,
} from './shared/deletion.js'
import { createResidenceCheck } from '../relocation/describe.js'
import { requireReadable } from './shared/require-readable.js'
import { findStores, requireShards } from './shared/shards.js'
import { withStore } from './shared/with-store.js'

interface UserOptions extends DeleteOptions {
  /** Whether to wait until the rows are deleted. */
  readonly wait?: boolean
  readonly project: string
  readonly file?: string
}

/** The name of standard input. */
const STDIN = '-'

export const addUser: AddCommand = (program, context) => {
  const user = program.command('user').description('Delete users')

  user
    .command('delete')
    .description('Delete users with all events and sessions, and correct all counts')
    .argument(
      '[user_id...]',
      'Ids of up to 1,000 users, as in the events; anonymous-… for a user without an id',
    )
    .requiredOption('--project <id>', 'Project of the users')
    .option('--file <path>', 'Read further ids from a file, one per line; - is standard input')
    .option('--yes', YES_HELP)
    .option('--wait', WAIT_HELP)
    .action(async (given: readonly string[], options: UserOptions) => {
      const { project, file, yes = false, wait = false } = options
      const listed = file === undefined ? [] : await readIds(file)
      const userIds = requireUserIds([...given, ...listed])
      await (yes
        ? withStore(context, 'user delete --yes', (opened) =>
            deleteConfirmed(context, opened, { project, userIds, wait }),
          )
        : withStore(context, 'user delete', (opened) =>
            refuseUnconfirmed(context, opened, project, userIds),
          ))
    })
}

/** Reads ids, one per line. Empty lines are none. */
async function readIds(file: string): Promise<readonly string[]> {
  if (file !== STDIN) await requireReadable(file)
  const lines = await text(file === STDIN ? process.stdin : createReadStream(file))
  return lines
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => line !== '')
}

async function deleteConfirmed(
  context: CommandContext,
  opened: OpenedCluster,
  {
    project: id,
    userIds,
    wait,
  }: { readonly project: string; readonly userIds: readonly string[]; readonly wait: boolean },
): Promise<void> {
  const { cluster } = opened
  const project = await requireProject(cluster.home.store.writer, id)
  const check = createResidenceCheck(cluster, project)
  await check()
  const stores = await findStores(opened, id)
  const { holdings, deleteRows } = await hideUsersFromShards(stores, id, userIds, { check })
  requireFound(context, id, userIds, holdings)
  await recordUserDeletion(getManagement(context, cluster), project, holdings.users)
  const who = describeUsers(userIds, id, holdings)
  if (wait || !mayLeaveRows(opened)) {
    await deleteRows()
    context.print(`deleted ${who}`)
  } else {
    context.print(`hid ${who}`)
    context.note(describeLeftRows('them'))
  }
}

/**
 * Reports what would be deleted.
 *
 * @throws UserError always: it asks for `--yes`, or reports that there are no such users
 */
async function refuseUnconfirmed(
  context: CommandContext,
  { store, cluster }: OpenedCluster,
  project: string,
  userIds: readonly string[],
): Promise<never> {
  const shards = requireShards(cluster, await requireProject(store.reader, project))
  const found = await Promise.all(
    shards.map((shard) => readUserHoldings(shard.store.reader, project, userIds)),
  )
  const holdings = sumUserHoldings(userIds, found.flat())
  requireFound(context, project, userIds, holdings)
  throw createUnconfirmedError(describeUsers(userIds, project, holdings))
}

/** Notes unknown ids. @throws MissingError if all are */
function requireFound(
  context: CommandContext,
  project: string,
  userIds: readonly string[],
  { users, unknownUserIds }: UsersHoldings,
): void {
  if (users === 0) throw createUnknownUsersError(project, userIds)
  if (unknownUserIds.length === 0) return
  context.note(
    `${formatCount(unknownUserIds.length, 'id')} of no user in project ${project}: ${unknownUserIds.join(', ')}`,
  )
}
