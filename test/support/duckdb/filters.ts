/** The filters of a request as a condition on rows of `events`. */
import type {
  AnalyticsQueryRequest,
  Filter,
  ListClause,
  StringClause,
  TypedFilter,
  ValueFilter,
} from '../../../src/contract/api.js'
import {
  FOLDED_OPERATORS,
  LIST_OPERATORS,
  SATISFIED_WITHOUT_PROPERTY,
  STRING_OPERATORS,
} from './operators.js'
import { combine, raw, sql, type Sql } from './sql.js'

/** Builds the conditions of a filter, all of which have to hold. */
type Conditions<Type extends TypedFilter['type']> = (
  filter: Extract<TypedFilter, { readonly type: Type }>,
  zone: string,
) => readonly Sql[]

const compareText = (text: Sql, { operator, value, caseSensitive = true }: StringClause): Sql =>
  (caseSensitive ? STRING_OPERATORS : FOLDED_OPERATORS)[operator](text, value)

const compare = (column: string, clause: StringClause): Sql => compareText(raw(column), clause)

const compareList = (column: string, { operator, value }: ListClause): Sql =>
  LIST_OPERATORS[operator](raw(column), value)

/** Compares members that may be left out, each with the column of its name. */
const compareMembers =
  <Member extends string, Clause>(
    members: readonly Member[],
    condition: (column: string, clause: Clause) => Sql,
  ) =>
  (filter: Readonly<Partial<Record<Member, Clause>>>): readonly Sql[] =>
    members.flatMap((member) => {
      const clause = filter[member]
      return clause === undefined ? [] : [condition(member, clause)]
    })

interface PropertyClause extends StringClause {
  readonly property: string
}

function compareProperty({ property, ...clause }: PropertyClause): Sql {
  const { operator } = clause
  const condition = operator === 'any' ? sql`TRUE` : compareText(sql`value`, clause)
  const own = sql`SELECT arrival FROM properties WHERE name = ${property}`
  const satisfied = sql`arrival IN (${own} AND ${condition})`
  return SATISFIED_WITHOUT_PROPERTY.has(operator)
    ? sql`(${satisfied} OR arrival NOT IN (${own}))`
    : satisfied
}

/** The filters that are no clause on a session attribute of their name. */
const FILTERS: { readonly [Type in TypedFilter['type']]?: Conditions<Type> } = {
  page: compareMembers(['origin', 'path', 'hash'], compare),
  entry_page: (clause) => [compare('page_entry', clause)],
  exit_page: (clause) => [compare('page_exit', clause)],
  event: ({ name, properties = [] }) => [
    ...(name === undefined ? [] : [compare('name', name)]),
    ...properties.map(compareProperty),
  ],
  clock: ({ weekdays, hours }, zone) => [
    ...(weekdays === undefined ? [] : [compareClock('%u', weekdays, zone)]),
    ...(hours === undefined ? [] : [compareClock('%-H', hours, zone)]),
  ],
  user: ({ anonymous }) => [anonymous ? sql`anonymous` : sql`NOT anonymous`],
  location: compareMembers(['country', 'city'], compareList),
  utm_tags: compareMembers(
    ['utm_campaign', 'utm_content', 'utm_medium', 'utm_source', 'utm_term'],
    compare,
  ),
  device: (clause) => [compareList('device_type', clause)],
  group: ({ operator, filters }, zone) => {
    const condition = combine(buildAll(filters, zone), operator === 'or' ? 'OR' : 'AND')
    return [operator === 'not' ? sql`NOT ${condition}` : condition]
  },
  segment: ({ filters = [] }, zone) => [combine([sql`TRUE`, ...buildAll(filters, zone)], 'AND')],
  visit: ({ filters }, zone) => [
    sql`session IN (SELECT session FROM events WHERE ${combine(buildAll(filters, zone), 'AND')})`,
  ],
}

/** Whether the clock of a zone shows one of some numbers. */
const compareClock = (format: string, values: readonly number[], zone: string): Sql =>
  sql`CAST(strftime((occurred AT TIME ZONE 'UTC') AT TIME ZONE ${zone}, ${format}) AS INTEGER) IN (${raw(values.join())})`

/** Compares the session attribute that has the name of the filter. */
const compareAttribute = (filter: TypedFilter): readonly Sql[] => {
  const clause = filter as ListClause | StringClause
  return [
    Array.isArray(clause.value)
      ? compareList(filter.type, clause as ListClause)
      : compare(filter.type, clause as StringClause),
  ]
}

/** The columns of the fields that have another name. */
const COLUMNS: Readonly<Record<string, string>> = {
  'page:origin': 'origin',
  'page:path': 'path',
  'page:hash': 'hash',
  'page:entry': 'page_entry',
  'page:exit': 'page_exit',
  'event:name': 'name',
}

/** The clause that holds if one value matches; whatever begins like it and ends with `_not` is the complement of all. */
const SINGLE = {
  is: 'eq',
  contains: 'contains',
  starts_with: 'startsWith',
  ends_with: 'endsWith',
  matches: 'matches',
  is_set: 'any',
} as const

/** Whether any of the values matches, or none of them if the operator ends with `_not`. */
function compareValues(filter: ValueFilter): Sql {
  const { case_sensitive: caseSensitive = true, value = [] } = filter
  const operator = SINGLE[filter.operator.replace('_not', '') as keyof typeof SINGLE]
  const conditions = (operator === 'any' ? [''] : value).map((one) => {
    const clause = { operator, value: one, caseSensitive }
    return 'property' in filter
      ? compareProperty({ property: filter.property, ...clause })
      : compare(COLUMNS[filter.field] ?? filter.field, clause)
  })
  const matched = combine([sql`FALSE`, ...conditions], 'OR')
  return filter.operator.endsWith('_not') ? sql`NOT ${matched}` : matched
}

const buildAll = (filters: readonly Filter[], zone: string): readonly Sql[] =>
  filters.map((filter) => buildFilter(filter, zone))

function buildFilter(filter: Filter, zone: string): Sql {
  if (!('type' in filter)) return compareValues(filter)
  const conditions = (FILTERS[filter.type] ?? compareAttribute) as (
    filter: TypedFilter,
    zone: string,
  ) => readonly Sql[]
  return combine([sql`TRUE`, ...conditions(filter, zone)], 'AND')
}

/** Builds the condition of all filters of a request. Without filters every event satisfies it. */
export const buildFilters = ({
  filters,
  filtersOperator,
  time_zone: zone = 'UTC',
}: Pick<AnalyticsQueryRequest, 'filters' | 'filtersOperator' | 'time_zone'>): Sql =>
  filters.length === 0
    ? sql`TRUE`
    : combine(buildAll(filters, zone), filtersOperator === 'or' ? 'OR' : 'AND')
