/** What commands say before and after they delete something. */
import type { ProjectHoldings, UserHoldings } from '../../deletion/holdings.js'
import { UserError } from '../../lib/errors.js'
import { grouped } from './progress.js'

export interface DeleteOptions {
  /** Deletes; without it nothing is, and the command tells what would be. */
  readonly yes?: boolean
}

/** The help of the option `--yes`. */
export const YES = 'do it; without this nothing is deleted'

/** The error for a deletion that was not confirmed. */
export const unconfirmed = (what: string): UserError =>
  new UserError(`this would delete ${what}, for good: add --yes to do it`)

export const namedUser = (
  userId: string,
  projectId: string,
  { events, sessions }: UserHoldings,
): string =>
  `user ${userId} of project ${projectId}, with ${counted(events, 'event')} in ${counted(sessions, 'session')}`

export const namedProject = (id: string, { events, users, keys }: ProjectHoldings): string =>
  `project ${id}, with ${counted(events, 'event')} of ${counted(users, 'user')} and ${counted(keys, 'key')}`

const counted = (count: number, noun: string): string =>
  `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
