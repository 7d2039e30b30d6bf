/** The rules that decide the channel of a session. It is computed from stored columns, so no column of the facts holds it. */
import type { Channel, ReferrerType } from '../contract/api.js'
import { and, join, sql, string, strings, type Sql } from '../clickhouse/sql.js'
import { SEARCH_SITE, SOCIAL_SITE } from './sites.js'

/** The texts that rules compare, in lower case and without surrounding spaces. `source` is `utm_source`, or else the referrer. */
export type ChannelText = 'medium' | 'source' | 'referrer'

interface ChannelRow {
  readonly channel: Channel
  /** The referrer type. Absent where any may be. */
  readonly type?: ReferrerType
  /** Regular expressions that mean the same in RE2 and in JavaScript. All must match. */
  readonly matches?: Readonly<Partial<Record<ChannelText, string>>>
}

const SEARCH_ADS = '(^|[^a-z])adwords$|^(google|bing|microsoft|yahoo|yandex)[-_ ]?ads$|^yahoo!'
const SOCIAL_ADS =
  '^(facebook|fb|meta|instagram|linkedin|tiktok|twitter|x|reddit|snapchat|pinterest)[-_ ]?ads$'

/**
 * The first rule that holds decides. The table is that of `Channel` in openapi.yaml.
 *
 * An ad is one of a search engine or a network by its source: where auto-tagging adds nothing but a click id, that is the referrer.
 */
export const CHANNELS: readonly ChannelRow[] = [
  { channel: 'Direct', type: 'direct' },
  { channel: 'Organic Search', type: 'search' },
  { channel: 'Organic Social', type: 'social' },
  { channel: 'Email', type: 'email' },
  { channel: 'AI Assistants', type: 'llm' },
  { channel: 'Paid Search', type: 'paid', matches: { source: `${SEARCH_SITE}|${SEARCH_ADS}` } },
  { channel: 'Paid Social', type: 'paid', matches: { source: `${SOCIAL_SITE}|${SOCIAL_ADS}` } },
  { channel: 'Paid Social', type: 'paid', matches: { medium: 'social' } },
  { channel: 'Paid Search', type: 'paid', matches: { medium: 'search|^sem$' } },
  { channel: 'Referral', type: 'unknown', matches: { medium: '^(referral|referrer|link)$' } },
  { channel: 'Referral', type: 'unknown', matches: { medium: '^$', referrer: '[\\s\\S]' } },
  { channel: 'Other' },
]

const normalize = (text: Sql): Sql => sql`lower(trimBoth(${text}))`

const isOfType = ({ type, matches }: ChannelRow): boolean =>
  type !== undefined && matches === undefined
/** The channels that follow from the type alone, with their types. No earlier rule is about the same type. */
const TYPES: ReadonlyMap<string, string> = new Map(
  CHANNELS.filter(isOfType).map(({ channel, type = '' }) => [channel, type]),
)

/**
 * Writes the condition that the channel is one of some. Most follow from the type, which is far cheaper to read than all texts. If none of
 * the others is asked for, ClickHouse finds that the second part is constant, and does not compute it.
 */
export function writeOneOfChannels(channels: readonly string[]): Sql {
  const types = channels.flatMap((channel) => TYPES.get(channel) ?? [])
  const others = channels.filter((channel) => !TYPES.has(channel))
  const listed = strings(others)
  const isOther = sql`(notEmpty(${listed}) AND ${writeChannel((column) => column)} IN ${listed})`
  return sql`(${COLUMNS.type} IN ${strings(types)} OR ${isOther})`
}

const COLUMNS = {
  type: sql`referrer_type`,
  medium: sql`utm_medium`,
  source: sql`utm_source`,
  referrer: sql`referrer`,
} as const

/**
 * Computes the channel from columns that rows of events and of sessions have.
 *
 * @param read writes how each of these columns is read
 */
export function writeChannel(read: (column: Sql) => Sql): Sql {
  const [medium, source, referrer] = [
    read(COLUMNS.medium),
    read(COLUMNS.source),
    read(COLUMNS.referrer),
  ]
  const texts: Readonly<Record<ChannelText, Sql>> = {
    medium: normalize(medium),
    source: normalize(sql`if(${source} != '', ${source}, ${referrer})`),
    referrer: normalize(referrer),
  }
  const writeRow = ({ type, matches = {} }: ChannelRow): Sql => {
    const ofType = type === undefined ? [] : [sql`${read(COLUMNS.type)} = ${string(type)}`]
    const ofTexts = (['medium', 'source', 'referrer'] as const).flatMap((text) => {
      const pattern = matches[text]
      return pattern === undefined ? [] : [sql`match(${texts[text]}, ${string(pattern)})`]
    })
    return and([...ofType, ...ofTexts])
  }
  return sql`multiIf(${join(
    CHANNELS.slice(0, -1).map((row) => sql`${writeRow(row)}, ${string(row.channel)}`),
  )}, ${string(CHANNELS.at(-1)?.channel ?? '')})`
}
