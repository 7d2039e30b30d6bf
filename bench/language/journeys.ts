/** Journeys, beside the statement by hand. */
import { isDeepStrictEqual } from 'node:util'
import { sql, statement, type Statement } from '../../src/clickhouse/sql.js'
import type { JourneysResponse } from '../../src/contract/api.js'
import { MONTH, YEAR, type BenchPeriod } from '../reads/periods.js'
import type { HandRow, Pair } from './pair.js'
import { writeEvents } from './statements.js'

/** Follows visits for three steps from a page, whose ten largest pages have rows of their own. No visit has two pageviews at a moment. */
const selectSteps = (period: BenchPeriod): Statement =>
  statement(sql`
SELECT toInt64(step) AS step, kind, shown AS value, toInt64(sum(visits)) AS visits, toInt64(groupBitmapMerge(users)) AS users
FROM (
  SELECT *, row_number() OVER (PARTITION BY step, page = '' ORDER BY visits DESC, page) AS place,
    multiIf(step = 0, 'anchor', page = '', 'none', place <= 10, 'page', 'other') AS kind, if(kind = 'page', page, NULL) AS shown
  FROM (
    SELECT step - 1 AS step, page, count() AS visits, groupBitmapState(owner) AS users
    FROM (
      SELECT any(user) AS owner, arrayMap(entry -> entry.2, arraySort(groupArray((timestamp, path)))) AS pages,
        arrayCompact(arraySlice(pages, indexOf(pages, '/section/1'))) AS path_of_visit,
        arraySlice(arrayPushBack(path_of_visit, ''), 1, 4) AS steps
      FROM ${writeEvents(period)} AND name = 'pageview' GROUP BY session HAVING has(pages, '/section/1')
    )
    ARRAY JOIN steps AS page, arrayEnumerate(steps) AS step
    GROUP BY step, page
  )
)
GROUP BY step, kind, shown ORDER BY step, indexOf(['anchor', 'page', 'other', 'none'], kind), visits DESC, shown`)

function checkSteps(answer: string, rows: readonly HandRow[]): void {
  const { data } = JSON.parse(answer) as JourneysResponse
  const steps = data.map(({ step, kind, value, visits, users }) => [
    step,
    kind,
    value,
    visits,
    users,
  ])
  const byHand = rows.map((row) => Object.values(row))
  if (isDeepStrictEqual(steps, byHand)) return
  throw new Error(`the steps are ${JSON.stringify(steps)}, by hand ${JSON.stringify(byHand)}`)
}

const compareJourneys = (period: BenchPeriod): Pair => ({
  name: `${period.name}, journeys of three steps from a page`,
  request: {
    path: '/v1/analytics/journeys',
    body: JSON.stringify({
      date_range: period.range,
      from: {
        filters: [
          { field: 'page:path', operator: 'is', value: ['/section/1'] },
          { field: 'event:name', operator: 'is', value: ['pageview'] },
        ],
      },
    }),
  },
  beside: { name: 'by hand', ways: [selectSteps(period)], check: checkSteps },
})

export const JOURNEY_PAIRS: readonly Pair[] = [MONTH, YEAR].map(compareJourneys)
