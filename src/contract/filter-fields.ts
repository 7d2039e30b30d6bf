/** The fields that filters compare, and the place that each has in a filter. */
import { listKeys } from '../lib/records.js'
import type { FilterField, ListClause, StringClause, TypedFilter } from './api.js'

/** The filters that compare fields. */
type ComparingFilter = Exclude<
  TypedFilter,
  { type: 'user' | 'clock' | 'group' | 'visit' | 'segment' }
>

type KindOf<Clause> = Clause extends ListClause ? 'list' : 'string'
type MemberOf<One> = Exclude<keyof One, 'type' | 'properties'>
/** The type of a filter, its member that compares the field (absent: the filter itself does), and how that compares. */
type PlaceOf<One extends ComparingFilter> = One extends StringClause | ListClause
  ? { readonly type: One['type']; readonly member?: never; readonly kind: KindOf<One> }
  : One extends ComparingFilter
    ? {
        readonly [Member in MemberOf<One>]-?: {
          readonly type: One['type']
          readonly member: Member
          readonly kind: KindOf<One[Member]>
        }
      }[MemberOf<One>]
    : never
type Place = PlaceOf<ComparingFilter>

export type FilterPlace = Place & {
  /** A value that the field may have, for error messages. */
  readonly example: string
}

const ROWS = {
  country: { type: 'location', member: 'country', kind: 'list', example: 'DE' },
  city: { type: 'location', member: 'city', kind: 'list', example: 'Berlin' },
  region: { type: 'region', kind: 'list', example: 'DE-BE' },
  language: { type: 'language', kind: 'list', example: 'de' },
  'page:origin': { type: 'page', member: 'origin', kind: 'string', example: 'https://example.com' },
  'page:path': { type: 'page', member: 'path', kind: 'string', example: '/pricing' },
  'page:hash': { type: 'page', member: 'hash', kind: 'string', example: 'pricing' },
  'page:entry': { type: 'entry_page', kind: 'string', example: '/' },
  'page:exit': { type: 'exit_page', kind: 'string', example: '/checkout' },
  browser: { type: 'browser', kind: 'list', example: 'Firefox' },
  device_type: { type: 'device', kind: 'list', example: 'mobile' },
  os: { type: 'os', kind: 'list', example: 'Android' },
  referrer: { type: 'referrer', kind: 'string', example: 'news.example' },
  referrer_url: { type: 'referrer_url', kind: 'string', example: 'https://news.example/a' },
  referrer_type: { type: 'referrer_type', kind: 'list', example: 'search' },
  channel: { type: 'channel', kind: 'list', example: 'email' },
  utm_campaign: { type: 'utm_tags', member: 'utm_campaign', kind: 'string', example: 'spring' },
  utm_content: { type: 'utm_tags', member: 'utm_content', kind: 'string', example: 'button' },
  utm_medium: { type: 'utm_tags', member: 'utm_medium', kind: 'string', example: 'email' },
  utm_source: { type: 'utm_tags', member: 'utm_source', kind: 'string', example: 'newsletter' },
  utm_term: { type: 'utm_tags', member: 'utm_term', kind: 'string', example: 'shoes' },
  'event:name': { type: 'event', member: 'name', kind: 'string', example: 'signup' },
} as const satisfies Readonly<Record<FilterField, FilterPlace>>

export const FILTER_FIELDS: Readonly<Record<FilterField, FilterPlace>> = ROWS

type NameOf<Row> = Row extends { readonly type: string; readonly member: string }
  ? `${Row['type']}.${Row['member']}`
  : Row extends { readonly type: string }
    ? Row['type']
    : never
type Missing = Exclude<NameOf<Place>, NameOf<(typeof ROWS)[FilterField]>>
// Does not compile if the contract has a place that is in no row: its conditions would be ignored.
null satisfies [Missing] extends [never] ? null : Missing

/** The names of the fields of the table, in its order. */
export const FILTER_FIELD_NAMES: readonly FilterField[] = listKeys(ROWS)

/** The field whose values are the names of the event properties. */
export const PROPERTY_NAMES = 'event:prop'

/** The prefix of an event property where it is a field, as in `event:prop:plan`. */
export const PROPERTY_PREFIX = `${PROPERTY_NAMES}:` as const

/** A clause of a filter, and the field that it compares. */
type FieldClause = {
  readonly name: FilterField
  /** The member of the filter that is the clause; undefined if the filter itself is. */
  readonly member: string | undefined
} & (
  | { readonly kind: 'string'; readonly clause: StringClause }
  | { readonly kind: 'list'; readonly clause: ListClause }
)

/** Lists the clauses of a filter that compare fields of the table, in its order. Those of event properties are not among them. */
export const listFieldClauses = (filter: TypedFilter): readonly FieldClause[] =>
  FILTER_FIELD_NAMES.flatMap((name) => {
    const { type, member, kind } = FILTER_FIELDS[name]
    if (type !== filter.type) return []
    const members: Readonly<Record<string, unknown>> = filter
    const clause = member === undefined ? filter : members[member]
    // The types of the rows say that this place has a clause of this kind.
    return clause === undefined ? [] : [{ name, member, kind, clause } as FieldClause]
  })

/**
 * Returns how filters compare a field: by one text (`string`) or by a list of values. Properties are compared by one text.
 *
 * @param field the name of a field of the table, or `event:prop:` and the name of a property
 * @returns undefined if filters do not compare it
 */
export function findClauseKind(field: string): FieldClause['kind'] | undefined {
  if (Object.hasOwn(ROWS, field)) return FILTER_FIELDS[field as FilterField].kind
  return field.length > PROPERTY_PREFIX.length && field.startsWith(PROPERTY_PREFIX)
    ? 'string'
    : undefined
}

/** Returns the member by which a filter names what it compares: a field, or a property for `event:prop:` and its name. */
export const nameCompared = (
  field: string,
): { readonly field: FilterField } | { readonly property: string } =>
  field.startsWith(PROPERTY_PREFIX)
    ? { property: field.slice(PROPERTY_PREFIX.length) }
    : { field: field as FilterField }
