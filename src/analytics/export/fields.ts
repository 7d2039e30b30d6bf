/** The fields of an exported event, by the names that the collector and imports know. */
import { declaredName, sql, type Sql } from '../../clickhouse/sql.js'
import type { EventField } from '../../contract/api.js'

/** A value as the store returns it; properties are an object. */
export type StoredValue = string | boolean | Readonly<Record<string, string>>

/** Where a field is read from: rows of `events`, their users, or their sessions. */
type Source = 'events' | 'users' | 'sessions'

interface FieldRow {
  readonly source: Source
  /** The value, from the tables `own`, `people` and `visits` of the statement. */
  readonly value: Sql
  /** What rows are ordered by. */
  readonly order: Sql
}

/** The moment of an event in milliseconds since 1970, which every row has. */
export const MOMENT = sql`moment`

/** Defines a field with a column of its name. */
const defineOwn = (name: EventField): FieldRow => {
  const column = declaredName<EventField>(name)
  return { source: 'events', value: sql`own.${column}`, order: column }
}

/**
 * The id of a session: the one that was sent, else a hash. Neither depends on the shard. Sessions without an id of a user never start
 * at the same moment.
 */
const SESSION_ID = sql`multiIf(NOT visits.is_known, '', visits.sent_id != '', visits.sent_id, concat('session-', lower(hex(sipHash64(people.user_id, toUnixTimestamp64Milli(visits.start_at))))))`

export const FIELDS: Readonly<Record<EventField, FieldRow>> = {
  timestamp: { source: 'events', value: sql`own.timestamp`, order: MOMENT },
  name: defineOwn('name'),
  user_id: { source: 'users', value: sql`people.user_id`, order: sql`user_id` },
  anonymous: defineOwn('anonymous'),
  session_id: { source: 'sessions', value: SESSION_ID, order: sql`session_id` },
  origin: defineOwn('origin'),
  path: defineOwn('path'),
  hash: defineOwn('hash'),
  country: defineOwn('country'),
  region: defineOwn('region'),
  city: defineOwn('city'),
  browser: defineOwn('browser'),
  device_type: defineOwn('device_type'),
  os: defineOwn('os'),
  language: defineOwn('language'),
  referrer: defineOwn('referrer'),
  referrer_url: defineOwn('referrer_url'),
  referrer_type: defineOwn('referrer_type'),
  utm_source: defineOwn('utm_source'),
  utm_medium: defineOwn('utm_medium'),
  utm_campaign: defineOwn('utm_campaign'),
  utm_content: defineOwn('utm_content'),
  utm_term: defineOwn('utm_term'),
  properties: { ...defineOwn('properties'), order: sql`toString(properties)` },
}
