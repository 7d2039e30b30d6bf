/** Builds the body of a query from the options of the command line. The service checks it. */
import { omitUndefined } from '../shared/options.js'
import { parseFilter } from './parse-filter.js'

export interface QueryOptions {
  readonly period: string
  readonly metrics?: readonly string[]
  readonly groupBy?: string
  readonly orderBy?: string
  readonly limit?: number
  readonly offset?: number
  readonly filter?: readonly string[]
  readonly any?: boolean
  readonly timeZone?: string
}

/** @throws UserError for a filter of another form */
export const buildBody = (options: QueryOptions): object =>
  omitUndefined({
    date_range: parsePeriod(options.period),
    metrics: options.metrics,
    group_by: options.groupBy === undefined ? undefined : [options.groupBy],
    order_by: options.orderBy === undefined ? undefined : [parseOrder(options.orderBy)],
    limit: options.limit,
    offset: options.offset,
    filters: options.filter?.map(parseFilter),
    filtersOperator: options.any === true ? 'or' : undefined,
    time_zone: options.timeZone,
  })

/** A preset, or two ends: `2026-01-01..2026-01-31`. */
function parsePeriod(text: string): string | readonly string[] {
  const ends = text.split('..')
  return ends.length === 1 ? text : ends
}

/** A field, with a direction or in descending order: `users`, `country:asc`. Fields may have colons themselves. */
function parseOrder(text: string): readonly [field: string, direction: string] {
  const { field = text, direction = 'desc' } =
    /^(?<field>.+):(?<direction>asc|desc)$/.exec(text)?.groups ?? {}
  return [field, direction]
}
