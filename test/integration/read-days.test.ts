/** Queries about some days read the events of these days, not those of whole months. */
import { beforeAll, expect, test } from '@jest/globals'
import { planQuery } from '../../src/analytics/plan/planner.js'
import { resolvePeriod } from '../../src/analytics/request/period.js'
import { resolveQuery } from '../../src/analytics/request/query.js'
import { buildStatement } from '../../src/analytics/sql/build-statement.js'
import { sql, statement, string } from '../../src/clickhouse/sql.js'
import type { AnalyticsQueryRequest } from '../../src/contract/api.js'
import type { ProjectSizes } from '../../src/model/project-sizes.js'
import { FACTS } from '../../src/model/relations.js'
import { withDatabase } from '../support/store/database.js'
import { fillDefaults, LARGE_SIZES } from '../support/world/world.js'

/** Facts are read in granules of this number of rows. */
const GRANULE = 8_192
const PROJECT = 'read-days'
const NOW = new Date('2026-06-01')

const database = withDatabase()

beforeAll(async () => {
  const { writer } = database.store
  // 8,000 pageviews on each day of January and February: 58 granules.
  await writer.execute(
    statement(sql`
INSERT INTO events (project_id, timestamp, user, session, name)
SELECT ${string(PROJECT)}, toDateTime64('2026-01-01', 3, 'UTC') + toIntervalSecond(number * 10.8), number % 5000, number, 'pageview'
FROM numbers(472000)`),
  )
  await writer.execute(statement(sql`OPTIMIZE TABLE events FINAL`))
})

/** Counts the rows that the statement of a query reads. */
async function countRows(
  given: Partial<AnalyticsQueryRequest>,
  sizes?: ProjectSizes,
): Promise<number> {
  const request = fillDefaults({ date_range: DAY, metrics: ['users', 'pageviews'], ...given })
  const period = resolvePeriod(request.date_range, NOW, NOW, request.time_zone)
  const query = resolveQuery(request, PROJECT, period)
  const { cost } = await database.store.reader.query(
    buildStatement(planQuery(query, FACTS, sizes), 'nonce'),
  )
  return cost.rowsRead
}

type Case = readonly [why: string, days: number, given: Partial<AnalyticsQueryRequest>]

const DAY = ['2026-01-15', '2026-01-15'] as const
const CASES: readonly Case[] = [
  ['a day', 1, {}],
  ['a day by hour', 1, { group_by: ['interval:hour'] }],
  ['a day by path', 1, { group_by: ['page:path'] }],
  ['some hours', 1, { date_range: ['2026-01-15T03:00:00Z', '2026-01-15T05:00:00Z'] }],
  ['a day of a zone', 2, { time_zone: 'Asia/Kolkata' }],
  [
    'a day of visits with an event',
    // The events that show which visits match are read as well, for each part of the statement.
    5,
    {
      filters: [
        {
          type: 'visit',
          filters: [{ type: 'page', path: { value: '/a', operator: 'notEq' } }],
        },
      ],
    },
  ],
]

test.each(CASES)('%s', async (_why, days, given) => {
  // A day may begin and end within a granule.
  const most = days * 2 * GRANULE
  expect(await countRows(given)).toBeLessThanOrEqual(most + 100)
  expect(await countRows(given, LARGE_SIZES)).toBeLessThanOrEqual(most + 100)
})
