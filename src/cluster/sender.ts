/** Decides which shard of a project an event goes to: all events of a sender go to the same one. */
import { crc32 } from 'node:zlib'
import { sql, uint32, type Sql } from '../clickhouse/sql.js'
import { takeCharacters } from '../lib/text.js'
import { EVENT_LIMITS } from '../model/event-fields.js'

/** The fields of an event that tell who it comes from. Null and the empty string mean that a field is absent. */
export interface SenderFields {
  readonly user_id?: string | null | undefined
  readonly ip?: string | null | undefined
  readonly user_agent?: string | null | undefined
}

const { maxStoredLength } = EVENT_LIMITS

/**
 * Returns the position of an event's shard among the shards of its project. A sender is a user id or, without one, an
 * address and a user agent, by which the loader derives a user for each day.
 */
export const chooseShard = (event: SenderFields, width: number): number =>
  width === 1 ? 0 : crc32(getSender(event)) % width

/** The same in SQL, for events in other tables: `userId`, `ip` and `userAgent` are expressions of type String. */
export const writeShardIndex = (userId: Sql, ip: Sql, userAgent: Sql, width: number): Sql =>
  sql`CRC32(if(${userId} != '', ${userId}, concat(${ip}, ' ', substringUTF8(${userAgent}, 1, ${uint32(maxStoredLength)})))) % ${uint32(width)}`

function getSender({ user_id: userId, ip, user_agent: userAgent }: SenderFields): string {
  if (userId !== undefined && userId !== null && userId !== '') return userId
  // The loader cuts the user agent in the same way.
  return `${ip ?? ''} ${takeCharacters(userAgent ?? '', maxStoredLength)}`
}
