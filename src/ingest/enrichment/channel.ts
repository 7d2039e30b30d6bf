/** The rules of `channel-rules.ts` as SQL. */
import { and, join, not, sql, string, strings, type Sql } from '../../clickhouse/sql.js'
import {
  CHANNEL_RULES,
  CLICK_IDS,
  type ChannelCondition,
  type ChannelFlag,
  type ChannelText,
} from './channel-rules.js'

/**
 * What the rules ask for, as columns. `kind` is that of the referrer; `clickId` the name of the parameter
 * that marks a click, or empty; `hasReferrer` whether there is a referrer at all, and `isTagged` whether
 * there is any utm value other than medium and source. Both only tell `direct` from `unknown`.
 */
export type ChannelColumns = Readonly<Record<ChannelText | ChannelFlag, Sql>>

/** The referrer type of an event: a String. */
export function referrerTypeOf(columns: ChannelColumns): Sql {
  const branches = CHANNEL_RULES.filter(({ when }) => when.length > 0).map(
    ({ type, when }) =>
      sql`${and(when.map((condition) => holds(condition, columns)))}, ${string(type)}`,
  )
  const otherwise = CHANNEL_RULES.find(({ when }) => when.length === 0)?.type ?? ''
  return sql`multiIf(${join(branches)}, ${string(otherwise)})`
}

function holds(condition: ChannelCondition, columns: ChannelColumns): Sql {
  const column = columns[condition.of]
  if ('isNot' in condition) return not(column)
  const text = sql`lower(trimBoth(${column}))`
  return 'is' in condition
    ? sql`has(${strings(condition.is)}, ${text})`
    : sql`match(${text}, ${string(condition.matches)})`
}

const CLICK_ID = string(`[?&](${CLICK_IDS.join('|')})=`)

/** The name of the first parameter of a URL's query, given with its `?`, that marks a click; or empty. */
export const clickIdOf = (query: Sql): Sql => sql`extract(${query}, ${CLICK_ID})`
