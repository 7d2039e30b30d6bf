/** Describes what a command deletes, and asks for `--yes` first. */
import type { ProjectHoldings, UserHoldings } from '../../deletion/holdings.js'
import { UserError } from '../../lib/errors.js'
import { formatCount } from './output.js'

export interface DeleteOptions {
  /** Without it the command only reports what it would delete. */
  readonly yes?: boolean
}

/** The help text of `--yes`. */
export const YES_HELP = 'Delete; without this option, only report what would be deleted'

/** Creates the error for a deletion without `--yes`. */
export const createUnconfirmedError = (what: string): UserError =>
  new UserError(`this would permanently delete ${what}: add --yes to confirm`)

export const describeUser = (
  userId: string,
  projectId: string,
  { events, sessions }: Pick<UserHoldings, 'events' | 'sessions'>,
): string =>
  `user ${userId} of project ${projectId}, with ${formatCount(events, 'event')} in ${formatCount(sessions, 'session')}`

export const describeProject = (id: string, { events, users, keys }: ProjectHoldings): string =>
  `project ${id}, with ${formatCount(events, 'event')} of ${formatCount(users, 'user')} and ${formatCount(keys, 'key')}`
