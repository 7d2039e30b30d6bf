/**
 * Reads the fields that decide where an event goes from its line, as the loader reads them. A line is scanned, and only as
 * far as needed, because `JSON.parse` takes the last value of a name that occurs several times. The loader takes the first
 * that is not null. It rejects lines that are not valid JSON, so it does not matter what is read from them.
 */
import { hasOwnId } from '../../../cluster/choose-shard.js'
import {
  findName,
  isString,
  readScalar,
  scanMembers,
  toScannedName,
} from '../timestamps/json-scan.js'

/** The texts of a line; a field that is absent or has another type is left out. */
export interface RoutingFields {
  project?: string
  timestamp?: string
  user_id?: string
  ip?: string
  user_agent?: string
}

/** The fields that are read beside those of the sender. */
export interface FieldNeeds {
  readonly project: boolean
  /** Whether the timestamp is wanted, where the user id does not decide alone. */
  readonly timestamp: boolean
}

type Name = keyof RoutingFields

const NAMES = (['project', 'timestamp', 'user_id', 'ip', 'user_agent'] as const).map(toScannedName)

/**
 * Reads the line from `start` to `end`, which may be left when it is known where the event goes; undefined for a line that
 * is no object.
 */
export function readFields(
  bytes: Buffer,
  start: number,
  end: number,
  needs: FieldNeeds,
): RoutingFields | undefined {
  const fields: RoutingFields = {}
  const isObject = scanMembers(bytes, start, end, (member) => {
    const name = findName(bytes, member, NAMES)
    if (name === undefined || !isWanted(name, needs)) return false
    // A number is a Unix time. The loader rejects it in every other field.
    const isRead = name === 'timestamp' || isString(bytes, member)
    const text = isRead ? readScalar(bytes, member) : undefined
    if (text !== undefined) fields[name] ??= text
    return isComplete(fields, needs)
  })
  return isObject ? fields : undefined
}

const isWanted = (name: Name, needs: FieldNeeds): boolean =>
  (name !== 'timestamp' || needs.timestamp) && (name !== 'project' || needs.project)

/** Whether the fields that were read decide where the event goes. */
const isComplete = (
  { user_id: userId = '', ...others }: RoutingFields,
  needs: FieldNeeds,
): boolean =>
  userId !== '' &&
  (others.project !== undefined || !needs.project) &&
  (others.timestamp !== undefined || !needs.timestamp || hasOwnId(userId))
