/** SQL fragments that classify events by their referrer and by the tags of the link that was followed. */
import { and, join, not, sql, string, strings, type Sql } from '../../clickhouse/sql.js'
import {
  CHANNEL_RULES,
  CLICK_IDS,
  type ChannelCondition,
  type ChannelFlag,
  type ChannelText,
} from './referrer-type.js'
import { REFERRER_PAGES } from './referrers.js'

/**
 * Builds the key under which a referrer is classified: the listed page it is on, or else its host. So there is one
 * key per host, plus one per listed page, and each is classified once.
 *
 * @param host in lower case
 * @param path with its leading `/`
 */
export function buildReferrerKey(host: Sql, path: Sql): Sql {
  const pages = strings(REFERRER_PAGES)
  const location = sql`concat(replaceRegexpOne(${host}, '^www[.]', ''), ${path}, '/')`
  const page = sql`arrayFirst(page -> startsWith(${location}, concat(page, '/')), ${pages})`
  return sql`if(${page} != '', ${page}, ${host})`
}

const CLICK_ID = string(`[?&](${CLICK_IDS.join('|')})=`)

/**
 * Extracts the name of the first click id parameter of a URL's query; an empty string if there is none.
 *
 * @param query with its leading `?`
 */
export const extractClickId = (query: Sql): Sql => sql`extract(${query}, ${CLICK_ID})`

/**
 * The columns that the channel rules read:
 * - `kind`: the kind of the referrer;
 * - `clickId`: the result of `extractClickId`;
 * - `hasReferrer`: whether the event has a referrer;
 * - `isTagged`: whether the event has a utm value other than medium and source.
 *
 * The two flags only decide between `direct` and `unknown`.
 */
type ChannelColumns = Readonly<Record<ChannelText | ChannelFlag, Sql>>

/** Builds the referrer type of an event, a String, from the rules of `referrer-type.ts`. */
export function buildReferrerType(columns: ChannelColumns): Sql {
  const branches = CHANNEL_RULES.filter(({ when }) => when.length > 0).map(
    ({ type, when }) =>
      sql`${and(when.map((condition) => buildCondition(condition, columns)))}, ${string(type)}`,
  )
  const otherwise = CHANNEL_RULES.find(({ when }) => when.length === 0)?.type ?? ''
  return sql`multiIf(${join(branches)}, ${string(otherwise)})`
}

function buildCondition(condition: ChannelCondition, columns: ChannelColumns): Sql {
  const column = columns[condition.of]
  if ('isNot' in condition) return not(column)
  const text = sql`lower(trimBoth(${column}))`
  return 'is' in condition
    ? sql`has(${strings(condition.is)}, ${text})`
    : sql`match(${text}, ${string(condition.matches)})`
}
