/** What every use case of management is given: the stores, who acts, and the time. */
import type { Cluster } from '../cluster/cluster.js'
import { randomId } from '../lib/random-id.js'

export interface ManagementContext {
  readonly cluster: Cluster
  /** The id of the admin key, or `COMMAND_LINE`. */
  readonly actor: string
  readonly now: () => Date
  /** Creates the id of what is created. Without it, ids are random. */
  readonly createId?: (prefix: string, length: number) => string
  /** Whether an interrupted request may have created something under these ids. */
  readonly isRepeated?: boolean
}

/** Who acts in a command on the host of the service. */
export const COMMAND_LINE = 'command line'

/** Creates the id of something new, with the randomness of `randomId`. */
export const createId = (context: ManagementContext, prefix: string, length: number): string =>
  (context.createId ?? randomId)(prefix, length)
