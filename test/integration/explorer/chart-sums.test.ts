/** The chart of the explorer sums to its card for every period and interval, or says what it leaves out. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { describeLeftOut, readSeries } from '../../../src/explorer/chart/series.js'
import type { QueryResponse } from '../../../src/explorer/client/contract.js'
import { buildQueries } from '../../../src/explorer/queries/build-queries.js'
import { divide } from '../../../src/explorer/state/intervals.js'
import { dateIn, endsNow, resolvePeriod } from '../../../src/explorer/state/periods.js'
import {
  DEFAULT_STATE,
  INTERVALS,
  LIVE,
  PRESETS,
  type CardMetric,
  type AskedState,
} from '../../../src/explorer/state/state.js'
import {
  askApi,
  NOW,
  startExploredService,
  type ExploredService,
} from '../browser/explorer/project.js'

/** The metrics whose values of parts of a period sum to that of the whole. */
const ADDITIVE: readonly CardMetric[] = ['visits', 'pageviews', 'events']

const PERIODS: readonly AskedState['period'][] = [
  ...PRESETS,
  resolvePeriod(LIVE, NOW),
  { from: '2026-02-01', to: '2026-02-28' },
  { from: '2025-12-01', to: '2026-03-31' },
  { from: '2026-03-01', to: '2026-03-31' },
  { from: '2026-02-28T14:30:00Z', to: '2026-02-28T15:29:59Z' },
  { from: '1900-01-01', to: '2026-02-28' },
]

let service: ExploredService
beforeAll(async () => {
  service = await startExploredService()
})
afterAll(() => service.stop())

const STATE: AskedState = { ...DEFAULT_STATE, comparison: 'off' }

/** The answers to the queries about the cards and the chart of each state, the latter for all metrics that sum. */
async function ask(
  states: readonly AskedState[],
): Promise<readonly (readonly [cards: QueryResponse, chart: QueryResponse])[]> {
  const bodies = states.flatMap((state) => {
    const find = (name: string) => buildQueries(state).find(({ id }) => id === name)!.body
    return [find('cards'), { ...find('chart'), metrics: ADDITIVE }]
  })
  const answers: unknown[] = []
  // A batch has at most 20 queries.
  for (let i = 0; i < bodies.length; i += 20) {
    answers.push(...(await askApi(service, bodies.slice(i, i + 20))))
  }
  return states.map(
    (_, i) => [answers[2 * i], answers[2 * i + 1]] as [QueryResponse, QueryResponse],
  )
}

test.each(['UTC', 'Asia/Kolkata'])('in %s', async (zone) => {
  const [all] = await ask([{ ...STATE, period: 'all', zone }])
  const chosen = PERIODS.flatMap((period) =>
    INTERVALS.map((interval) => {
      const state = { ...STATE, zone, period, interval }
      return { ...state, interval: divide(state, zone, NOW, all![0].period).asked }
    }),
  )
  // What is shown alike is asked once.
  const states = [...new Map(chosen.map((state) => [JSON.stringify(state), state])).values()]
  const answers = await ask(states)
  const differing = states.flatMap(({ period, interval }, i) =>
    ADDITIVE.flatMap((metric) => {
      const [cards, chart] = answers[i]!
      const query = { ...chart.query, metrics: [metric] }
      const isRunning = endsNow(period, dateIn(zone, NOW))
      const series = readSeries({ ...chart, query }, { endsNow: isRunning, now: NOW, zone })
      const sum = series.points.reduce((total, { value = 0 }) => total + value, 0)
      const isEqual = sum === cards.data[0]!.metrics[metric]
      return isEqual ? [] : [{ period, interval, metric, said: describeLeftOut(series) }]
    }),
  )
  // No interval of the page divides 126 years into at most 1,000 buckets.
  const [period, said] = [PERIODS.at(-1), expect.stringMatching(/^Only the first 1,000 of 1,514 /)]
  expect(differing).toEqual(ADDITIVE.map((metric) => ({ period, interval: 'auto', metric, said })))
})
