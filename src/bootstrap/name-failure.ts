/** Names a shard in the errors of work on it. */
import { UserError } from '../lib/errors.js'

/** Does work on a shard. @throws UserError with the name of the shard before the message; other errors as they are */
export async function nameFailure<Result>(
  shard: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof UserError ? new UserError(`${shard}: ${error.message}`) : error
  }
}
