/** Builds the body of a query from the options of the command line. The service checks it. */
import { omitUndefined } from '../shared/options.js'
import type { SharedOptions } from './options.js'
import { parseFilter } from './parse-filter.js'

export interface QueryOptions extends Pick<SharedOptions, 'period' | 'filter' | 'any'> {
  readonly metrics?: readonly string[]
  readonly groupBy?: string
  readonly thenBy?: readonly string[]
  readonly top?: number
  readonly orderBy?: string
  readonly compare?: string
  readonly align?: string
  readonly limit?: number | 'all'
  readonly offset?: number
  readonly timeZone?: string
}

/** @throws UserError for a filter of another form */
export const buildBody = (options: QueryOptions): object =>
  omitUndefined({
    ...buildSharedBody(options),
    metrics: options.metrics?.map(parseMetric),
    group_by: toList(options.groupBy),
    then_by: options.thenBy,
    group_limit: options.top,
    order_by: options.orderBy === undefined ? undefined : [parseOrder(options.orderBy)],
    limit: options.limit,
    offset: options.offset,
    time_zone: options.timeZone,
    compare: options.compare === undefined ? undefined : parsePeriod(options.compare),
    compare_align: options.align,
  })

/**
 * Builds the members that all queries have: period and filters.
 *
 * @throws UserError for a filter of another form
 */
export const buildSharedBody = ({
  period,
  filter,
  any,
}: Pick<SharedOptions, 'period' | 'filter' | 'any'>): object =>
  omitUndefined({
    date_range: parsePeriod(period),
    filters: filter?.map(parseFilter),
    filtersOperator: any === true ? 'or' : undefined,
  })

const toList = (value: string | undefined): readonly string[] | undefined =>
  value === undefined ? undefined : [value]

const NUMERIC = /^(?<metric>\S+)\s+of\s+(?<of>.+?)\s+as\s+(?<as>\S+)$/

const OF_GOAL =
  /^(?<metric>\S+)(?:\s+of\s+(?<of>users|visits))?\s+in\s+(?<goal>\S+)\s+as\s+(?<as>\S+)$/

/**
 * A name, a metric over the numbers of a property: `sum of event:prop:amount as revenue`, or one of a goal: `conversion_rate in purchase
 * as rate`.
 */
const parseMetric = (text: string): unknown => {
  const groups = (OF_GOAL.exec(text) ?? NUMERIC.exec(text))?.groups
  return groups === undefined ? text : omitUndefined({ ...groups })
}

/** A preset, the last units, or two ends: `2026-01-01..2026-01-31`. */
function parsePeriod(text: string): unknown {
  const { last, unit } = /^last (?<last>\d{1,9}) (?<unit>\w+?)s?$/.exec(text)?.groups ?? {}
  if (last !== undefined) return { last: Number(last), unit }
  const ends = text.split('..')
  return ends.length === 1 ? text : ends
}

/** A field, with a direction or in descending order: `users`, `country:asc`. Fields may have colons themselves. */
function parseOrder(text: string): readonly [field: string, direction: string] {
  const { field = text, direction = 'desc' } =
    /^(?<field>.+):(?<direction>asc|desc)$/.exec(text)?.groups ?? {}
  return [field, direction]
}
