/** Describes what a command deletes, and asks for `--yes` first. */
import type { OpenedCluster } from '../../bootstrap/open-cluster.js'
import { sumProjectHoldings } from '../../deletion/delete-from-shards.js'
import type { UsersHoldings } from '../../deletion/delete-users.js'
import { readProjectHoldings, type ProjectHoldings } from '../../deletion/holdings.js'
import { requireProject } from '../../projects/store.js'
import { formatCount } from '../../lib/counts.js'
import { UserError } from '../../lib/errors.js'
import { requireShards } from './shards.js'

export interface DeleteOptions {
  /** Without it the command only reports what it would delete. */
  readonly yes?: boolean
}

/** The help text of `--yes`. */
export const YES_HELP = 'Delete; without this option, only report what would be deleted'

/** The help text of `--wait`. */
export const WAIT_HELP = 'Wait until the rows are deleted, and not only until no query counts them'

/** Whether hidden rows may be left to a service. Where this process runs the engine, no service does. */
export const mayLeaveRows = ({ engine }: Pick<OpenedCluster, 'engine'>): boolean =>
  engine === undefined

/** Says who deletes hidden rows. @param what what no query counts, such as `them` */
export const describeLeftRows = (what: string): string =>
  `no query counts ${what} any more. A service on this store now deletes the rows; without one, the next import or start of a service does, or --wait`

/** Creates the error for a deletion without `--yes`. */
export const createUnconfirmedError = (what: string): UserError =>
  new UserError(`this would permanently delete ${what}: add --yes to confirm`)

/** Describes users that are deleted. @param userIds those that were asked for; a single one is named */
export function describeUsers(
  userIds: readonly string[],
  projectId: string,
  { users, events, sessions }: Omit<UsersHoldings, 'unknownUserIds'>,
): string {
  const who = userIds.length === 1 ? `user ${userIds.join('')}` : formatCount(users, 'user')
  return `${who} of project ${projectId}, with ${formatCount(events, 'event')} in ${formatCount(sessions, 'session')}`
}

export const describeProject = (id: string, { events, users, keys }: ProjectHoldings): string =>
  `project ${id}, with ${formatCount(events, 'event')} of ${formatCount(users, 'user')} and ${formatCount(keys, 'key')}`

/** Counts what a project has on all its shards. The keys are at home. */
export async function readHoldings(
  { store, cluster }: OpenedCluster,
  id: string,
): Promise<ProjectHoldings> {
  const shards = requireShards(cluster, await requireProject(store.reader, id))
  const stores = new Set([store, ...shards.map((shard) => shard.store)])
  return sumProjectHoldings(
    await Promise.all([...stores].map(({ reader }) => readProjectHoldings(reader, id))),
  )
}
