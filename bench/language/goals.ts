/** Conversions of goals, beside the statements by hand. */
import { sql, statement, type Sql } from '../../src/clickhouse/sql.js'
import type { Store } from '../../src/clickhouse/store.js'
import type { Definition } from '../../src/model/definitions.js'
import { writeDefinition } from '../../src/projects/definitions.js'
import { LARGE } from '../reads/generate.js'
import { YEAR } from '../reads/periods.js'
import type { Pair } from './pair.js'
import { checkRows, query } from './questions.js'
import { writeEvents } from './statements.js'

interface Goal {
  readonly name: string
  readonly filters: Definition['filters']
  readonly isConversion: Sql
}
const GOALS: readonly Goal[] = [
  {
    name: 'event-1',
    filters: [{ field: 'event:name', operator: 'is', value: ['event-1'] }],
    isConversion: sql`name = 'event-1'`,
  },
  {
    name: 'section-7',
    filters: [{ field: 'page:path', operator: 'is', value: ['/section/7'] }],
    isConversion: sql`path = '/section/7'`,
  },
]

/** Defines the goals in the large project. */
export async function defineGoals({ writer }: Store): Promise<void> {
  for (const { name, filters } of GOALS) {
    const definition = { kind: 'goal', name, filters, value: null } as const
    await writeDefinition(writer, LARGE, { definition, isDeleted: false, version: 1 })
  }
}

/** The channels that the generated visits have, without the rules for others. */
const CHANNEL = sql`multiIf(
  referrer_type = 'direct', 'Direct', referrer_type = 'search', 'Organic Search', referrer_type = 'social', 'Organic Social',
  utm_medium = '' AND referrer != '', 'Referral', 'Other')`

const compareRates = ({ name, isConversion }: Goal): Pair => ({
  name: `12 months, conversion rate of the goal ${name}, by channel`,
  request: query(YEAR, {
    group_by: ['channel'],
    metrics: [{ metric: 'conversion_rate', goal: name, as: 'rate' }],
  }),
  beside: {
    name: 'by hand',
    ways: [
      [sql`uniqExactIf(user, ${isConversion})`, sql`uniqExact(user)`] as const,
      [sql`groupBitmapIf(user, ${isConversion})`, sql`groupBitmap(user)`] as const,
    ].map(([converted, all]) =>
      statement(sql`
SELECT ${CHANNEL} AS channel, intDiv(20000 * ${converted} + (${all} AS users), 2 * users) / 100 AS rate
FROM ${writeEvents(YEAR)} GROUP BY channel ORDER BY rate DESC, channel`),
    ),
    check: checkRows,
  },
  target: { cpuTimes: 0.2 },
})

export const GOAL_PAIRS: readonly Pair[] = GOALS.map(compareRates)
