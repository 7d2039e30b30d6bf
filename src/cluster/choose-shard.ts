/** Decides which shard of a project an event goes to: all events of a sender go to the same one. */
import { crc32 } from 'node:zlib'
import { join, sql, string, time, uint32, type Sql } from '../clickhouse/sql.js'
import { parseInstant } from '../contract/timestamps.js'
import { takeCharacters } from '../lib/text.js'
import { EVENT_LIMITS } from '../model/event-fields.js'
import type { StoredProject } from '../projects/project.js'

/**
 * The fields of an event that tell who it comes from, and of which day it is. Null and the empty string mean that a field is
 * absent.
 */
export interface SenderFields {
  readonly user_id?: string | null | undefined
  readonly ip?: string | null | undefined
  readonly user_agent?: string | null | undefined
  readonly timestamp?: string | null | undefined
}

/** How the events of a project are divided over its shards. */
export type Placement = Pick<StoredProject, 'shards' | 'formerWidths'>

const { maxStoredLength } = EVENT_LIMITS

/** An id that a load derived, for one day. Files may bring it as a user id. */
const DERIVED_ID = '^anonymous-[0-9a-f]{32}$'
const DERIVED = new RegExp(DERIVED_ID)

/**
 * Returns the position of an event's shard among the shards of its project. A sender is a user id or, without one, an
 * address and a user agent, by which the loader derives a user for each day. Derived users stay where they are when a project is
 * widened: their events go by the width that the project had on their day.
 *
 * @param receivedAt the time of arrival that is stored with the event: its day, if it has no timestamp
 */
export function chooseShard(event: SenderFields, placement: Placement, receivedAt: Date): number {
  const width = findWidth(event, placement, receivedAt)
  return width <= 1 ? 0 : crc32(getSender(event)) % width
}

/** Returns the width by which an event is placed. It does not matter for a timestamp that loads reject. */
function findWidth(
  { user_id: userId, timestamp }: SenderFields,
  { shards: { length: width }, formerWidths }: Placement,
  receivedAt: Date,
): number {
  if (width <= 1 || formerWidths.length === 0 || hasOwnId(userId)) return width
  const at = isPresent(timestamp) ? (parseInstant(timestamp) ?? NaN) : receivedAt.getTime()
  return formerWidths.find(({ until }) => at < until.getTime())?.width ?? width
}

function getSender({ user_id: userId, ip, user_agent: userAgent }: SenderFields): string {
  if (isPresent(userId)) return userId
  // The loader cuts the user agent in the same way.
  return `${ip ?? ''} ${takeCharacters(userAgent ?? '', maxStoredLength)}`
}

/** Whether it is the id of a user who is not derived. In a wide project, this id alone decides where the user lives. */
export const hasOwnId = (userId: string | null | undefined): boolean =>
  isPresent(userId) && !DERIVED.test(userId)

/** The same in SQL. */
export const writeHasOwnId = (userId: Sql): Sql =>
  sql`(${userId} != '' AND NOT match(${userId}, ${string(DERIVED_ID)}))`

const isPresent = (text: string | null | undefined): text is string =>
  text !== undefined && text !== null && text !== ''

/** The fields of an event as expressions of type String, and its time of arrival as one of type DateTime64. */
interface SenderColumns {
  readonly userId: Sql
  readonly ip: Sql
  readonly userAgent: Sql
  readonly timestamp: Sql
  readonly receivedAt: Sql
}

/** The same in SQL, for events in other tables. */
export const writeShardIndex = (columns: SenderColumns, placement: Placement): Sql =>
  writeIndexOf(writeSender(columns), writeWidth(columns, placement))

/** The position of a sender among a number of shards, in SQL. */
export const writeIndexOf = (sender: Sql, width: Sql): Sql => sql`CRC32(${sender}) % ${width}`

const writeSender = ({ userId, ip, userAgent }: SenderColumns): Sql =>
  sql`if(${userId} != '', ${userId}, concat(${ip}, ' ', substringUTF8(${userAgent}, 1, ${uint32(maxStoredLength)})))`

function writeWidth(
  { userId, timestamp, receivedAt }: SenderColumns,
  { shards, formerWidths }: Placement,
): Sql {
  const width = uint32(Math.max(shards.length, 1))
  if (formerWidths.length === 0) return width
  const at = sql`if(${timestamp} = '', ${receivedAt}, parseDateTime64BestEffortOrNull(${timestamp}, 3, 'UTC'))`
  const former = formerWidths.map(
    ({ width: one, until }) => sql`${at} < ${time(until)}, ${uint32(one)}, `,
  )
  return sql`multiIf(${writeHasOwnId(userId)}, ${width}, ${join(former, sql``)}${width})`
}
