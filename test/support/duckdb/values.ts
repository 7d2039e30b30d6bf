/** Lists the values of a field, as the second implementation. */
import type { ValuesRequest, ValuesResponse } from '../../../src/contract/api.js'
import type { DuckDatabase } from './database.js'
import { buildFilters } from './filters.js'
import { findGrouping } from './groupings.js'
import { STRING_OPERATORS } from './operators.js'
import { resolvePeriod, type Clock, type DuckPeriod } from './period.js'
import { raw, sql, type Sql } from './sql.js'

const PROPERTY_NAMES = 'event:prop'

/** Answers a request for values whose defaults are filled in, about the events of the database. */
export async function answerValues(
  database: DuckDatabase,
  request: ValuesRequest,
  clock: Clock,
): Promise<ValuesResponse> {
  const { limit, filters, filtersOperator, ...required } = request
  const period = await resolvePeriod(database, required.date_range, clock, undefined)
  const rows = await database.run<ValuesResponse['data'][number]>(buildStatement(request, period))
  const data = rows.slice(0, limit)
  return {
    period: { from: period.from, to: period.to },
    query: {
      field: required.field,
      date_range: required.date_range,
      search: required.search,
      limit,
      ...(filters === undefined ? {} : { filters }),
      ...(filtersOperator === undefined ? {} : { filtersOperator }),
    },
    pagination: { limit, offset: 0, returned: data.length, total: rows.length },
    data,
  }
}

function buildStatement(
  { field, search, filters = [], filtersOperator = 'and' }: ValuesRequest,
  period: DuckPeriod,
): Sql {
  const { from, to } = period
  const order = field.startsWith('event:') ? 'events' : 'pageviews'
  const count = (condition: string): Sql =>
    sql`CAST(count(*) FILTER (WHERE ${raw(condition)}) AS DOUBLE)`
  return sql`
WITH
  matching AS (
    SELECT * FROM events
    WHERE ${buildFilters({ filters, filtersOperator })} AND occurred >= CAST(${from} AS TIMESTAMP) AND occurred < CAST(${to} AS TIMESTAMP) + INTERVAL 1 SECOND
  ),
  valued AS (${selectValues(field, period)})
SELECT value, ${count(`name = 'pageview'`)} AS pageviews, ${count(`name <> 'pageview'`)} AS events
FROM valued
WHERE value IS NOT NULL AND ${STRING_OPERATORS.contains(sql`value`, search)}
GROUP BY value
ORDER BY ${raw(order)} DESC, value`
}

/** Selects the events with their values: an event has as many names of properties as it has properties. */
const selectValues = (field: ValuesRequest['field'], period: DuckPeriod): Sql =>
  field === PROPERTY_NAMES
    ? sql`SELECT matching.name AS name, properties.name AS value FROM matching JOIN properties USING (arrival)`
    : sql`SELECT name, ${findGrouping(field, period).event} AS value FROM matching`
