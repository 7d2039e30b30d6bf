/** The examples of retention, funnels and journeys are valid, and requests that break its rules are refused. */
import { expect, test } from '@jest/globals'
import request from 'supertest'
import {
  contractApp,
  echoApp,
  FUNNEL,
  FUNNEL_EXPLAIN,
  JOURNEYS,
  JOURNEYS_EXPLAIN,
  RETENTION,
  RETENTION_EXPLAIN,
  send,
} from './contract-app.js'
import { document, examplesOf } from './document.js'

interface Example {
  readonly path: string
  readonly name: string
  readonly asked: object
  readonly body: { readonly query: object }
}

type Fill = (asked: object) => object
const fillRetention: Fill = (asked) => ({ filters: [], filtersOperator: 'and', ...asked })
const fillFunnel: Fill = (asked) => ({
  within: 'visit',
  filters: [],
  filtersOperator: 'and',
  ...asked,
  steps: (asked as { readonly steps: readonly object[] }).steps.map((step) => ({
    filtersOperator: 'and',
    ...step,
  })),
})
const fillAnchor = (anchor: object | undefined): object | undefined =>
  anchor && { filtersOperator: 'and', ...anchor }
const fillJourneys: Fill = (asked) => {
  const { from, to } = asked as { readonly from?: object; readonly to?: object }
  return {
    kinds: ['page'],
    depth: 3,
    limit: 10,
    filters: [],
    filtersOperator: 'and',
    ...asked,
    ...(from === undefined ? {} : { from: fillAnchor(from) }),
    ...(to === undefined ? {} : { to: fillAnchor(to) }),
  }
}
/** Fills in what an example leaves out. */
const FILL: Readonly<Record<string, Fill>> = {
  [RETENTION]: fillRetention,
  [FUNNEL]: fillFunnel,
  [JOURNEYS]: fillJourneys,
  [RETENTION_EXPLAIN]: fillRetention,
  [FUNNEL_EXPLAIN]: fillFunnel,
  [JOURNEYS_EXPLAIN]: fillJourneys,
}
/** What an answer shows beyond that. */
const SHOWN: Readonly<Record<string, object>> = { retention: { intervals: 2 } }

const EXAMPLES = Object.keys(FILL).flatMap((path): readonly Example[] => {
  const { requestBody, responses } = document.paths[path]!['post']!
  const answers = new Map(examplesOf(responses['200']!))
  return examplesOf(requestBody!).map(([name, { value }]) => ({
    path,
    name,
    asked: value as object,
    body: answers.get(name)!.value as Example['body'],
  }))
})

const echo = echoApp()
let given: object
const answering = contractApp((_req, res) => {
  res.json(given)
})

test.each(EXAMPLES)(
  '$path: the example "$name" is valid, and so is its answer, which echoes it',
  async ({ path, name, asked, body }) => {
    const filled = FILL[path]!(asked)
    expect(await send(echo, asked, path)).toMatchObject({ status: 200, answer: filled })
    given = body
    const { status, text } = await request(answering).post(path).send(asked)
    expect({ status, body: JSON.parse(text) as unknown }).toEqual({ status: 200, body })
    expect(body.query).toEqual({ ...filled, ...SHOWN[name] })
  },
)

test.each(EXAMPLES.filter(({ path }) => path === RETENTION))(
  'the example "$name" of retention has as many cohorts and counts as it says',
  ({ body }) => {
    const { query, data } = body as Example['body'] & {
      readonly query: { readonly intervals: number }
      readonly data: readonly { readonly size: number; readonly counts: readonly number[] }[]
    }
    for (const { size, counts } of data) {
      expect(counts).toHaveLength(query.intervals)
      expect(Math.max(...counts)).toBeLessThanOrEqual(size)
    }
  },
)

const nested = (depth: number): object =>
  depth === 0
    ? { type: 'user', anonymous: true }
    : { type: 'group', operator: 'and', filters: [nested(depth - 1)] }
const MONTHS = { interval: 'month', date_range: '12months' }

test.each(EXAMPLES.filter(({ path }) => path === FUNNEL))(
  'the example "$name" of a funnel has a row for each step, with the shares of its users',
  ({ asked, body }) => {
    const { steps } = asked as { readonly steps: readonly object[] }
    const { data } = body as Example['body'] & {
      readonly data: readonly Readonly<Record<string, number | null>>[]
    }
    const round = (users: number, base: number): number => Math.round((10_000 * users) / base) / 100
    const users = data.map((row) => row['users']!)
    expect(data).toMatchObject(
      steps.map((_, i) => ({
        step: i + 1,
        share_of_first: round(users[i]!, users[0]!),
        share_of_previous: i === 0 ? null : round(users[i]!, users[i - 1]!),
      })),
    )
    expect(data.map((row) => row['median_seconds'] === null)).toEqual(
      users.map((count, i) => i === 0 || count === 0),
    )
  },
)

test.each<[string, object, string, string]>([
  ['an empty body', {}, 'interval', 'is required'],
  ['no period', { interval: 'day' }, 'date_range', 'is required'],
  [
    'another interval',
    { ...MONTHS, interval: 'hour' },
    'interval',
    'must be one of: day, week, month',
  ],
  ['no interval after', { ...MONTHS, intervals: 0 }, 'intervals', ''],
  ['half an interval', { ...MONTHS, intervals: 1.5 }, 'intervals', ''],
  [
    'an end before its start',
    { interval: 'day', date_range: ['2026-01-02', '2026-01-01'] },
    'date_range',
    'must not start after its end',
  ],
  [
    'too many counts',
    { interval: 'day', date_range: ['2026-01-01', '2026-04-12'] },
    'interval',
    'makes 102 cohorts with 101 intervals each, and a table may have at most 10000 counts',
  ],
  [
    'too many counts of few cohorts',
    { interval: 'day', date_range: ['2026-01-01', '2026-01-02'], intervals: 5_001 },
    'interval',
    'makes 2 cohorts with 5001 intervals each',
  ],
  [
    'too many filters',
    {
      ...MONTHS,
      filters: [{ type: 'group', operator: 'and', filters: Array(20).fill(nested(0)) }],
    },
    'filters',
    'must hold at most 20 filters in all, and hold 21',
  ],
  [
    'filters too deep',
    { ...MONTHS, filters: [nested(5)] },
    'filters.0.filters.0.filters.0.filters.0.filters.0',
    'must not lie in more than 3',
  ],
  [
    'a pattern that does not compile',
    {
      ...MONTHS,
      filters: [{ type: 'page', path: { operator: 'matches', value: '(' } }],
    },
    'filters.0.path.value',
    'RE2',
  ],
  ['another member', { ...MONTHS, limit: 1 }, 'limit', 'is not a known'],
])('a request for retention with %s is refused', async (_, body, field, message) => {
  const { status, faults } = await send(echo, body, RETENTION)
  expect(status).toBe(400)
  expect(faults).toContainEqual({ field, message: expect.stringContaining(message) })
})

test('as many counts as there may be are allowed', async () => {
  const largest = { interval: 'day', date_range: ['2026-01-01', '2026-04-10'], intervals: 100 }
  expect((await send(echo, largest, RETENTION)).status).toBe(200)
})

const STEP = { filters: [{ type: 'page', path: { operator: 'eq', value: '/' } }] }
const TWO = { date_range: '30days', steps: [STEP, STEP] }

test.each<[string, object, string, string]>([
  ['an empty body', {}, 'steps', 'is required'],
  ['no period', { steps: [STEP, STEP] }, 'date_range', 'is required'],
  ['one step', { ...TWO, steps: [STEP] }, 'steps', 'must have at least 2 items'],
  ['eleven steps', { ...TWO, steps: Array(11).fill(STEP) }, 'steps', 'must have at most 10 items'],
  ['a step that is none', { ...TWO, steps: [STEP, 'x'] }, 'steps.1', 'must be an object'],
  ['a step without filters', { ...TWO, steps: [STEP, {}] }, 'steps.1.filters', 'is required'],
  [
    'another member of a step',
    { ...TWO, steps: [STEP, { ...STEP, name: 'x' }] },
    'steps.1.name',
    'is not a known',
  ],
  [
    'another type of filter',
    { ...TWO, steps: [STEP, { filters: [{ type: 'x' }] }] },
    'steps.1.filters.0.type',
    'must be one of: page, ',
  ],
  ['another window', { ...TWO, within: 'day' }, 'within', 'must be visit, or a whole number'],
  ['a window of nothing', { ...TWO, within: 0 }, 'within', ''],
  ['half a second', { ...TWO, within: 0.5 }, 'within', ''],
  ['a window of centuries', { ...TWO, within: 315_360_001 }, 'within', ''],
  [
    'too many filters in all',
    {
      ...TWO,
      filters: Array(5).fill(nested(0)),
      steps: [{ filters: Array(8).fill(nested(0)) }, { filters: Array(8).fill(nested(0)) }],
    },
    'steps',
    'must hold at most 20 filters in all, and hold 21',
  ],
  [
    'filters of a step too deep',
    { ...TWO, steps: [STEP, { filters: [nested(5)] }] },
    'steps.1.filters.0.filters.0.filters.0.filters.0.filters.0',
    'must not lie in more than 3',
  ],
  [
    'a pattern that does not compile',
    {
      ...TWO,
      steps: [STEP, { filters: [{ type: 'page', path: { operator: 'matches', value: '(' } }] }],
    },
    'steps.1.filters.0.path.value',
    'RE2',
  ],
  [
    'an end before its start',
    { ...TWO, date_range: ['2026-01-02', '2026-01-01'] },
    'date_range',
    '',
  ],
  ['another member', { ...TWO, limit: 1 }, 'limit', 'is not a known'],
])('a request for a funnel with %s is refused', async (_, body, field, message) => {
  const { status, faults } = await send(echo, body, FUNNEL)
  expect(status).toBe(400)
  expect(faults).toContainEqual({ field, message: expect.stringContaining(message) })
})

test.each(EXAMPLES.filter(({ path }) => path === JOURNEYS))(
  'the visits of the steps in the example "$name" of journeys add up, and have their shares',
  ({ body }) => {
    const { data } = body as Example['body'] & {
      readonly data: readonly {
        readonly step: number
        readonly kind: string
        readonly visits: number
        readonly share_of_visits: number
      }[]
    }
    const ofStep = (step: number) => data.filter((row) => row.step === step)
    const sum = (rows: typeof data): number => rows.reduce((all, { visits }) => all + visits, 0)
    for (let step = 1; ofStep(step).length > 0; step++) {
      const came = ofStep(step - 1).filter(({ kind }) => kind !== 'none')
      expect(sum(ofStep(step))).toBe(sum(came))
    }
    expect(data.map((row) => row.share_of_visits)).toEqual(
      data.map(({ visits }) => Math.round((10_000 * visits) / data[0]!.visits) / 100),
    )
  },
)

const ANCHORED = { date_range: '30days', from: { filters: [nested(0)] } }

test.each<[string, object, string, string]>([
  ['no period', { from: { filters: [] } }, 'date_range', 'is required'],
  ['no anchor', { date_range: '30days' }, 'from', 'is required, unless `to` is given'],
  ['two anchors', { ...ANCHORED, to: { filters: [] } }, 'from', 'must be left out where `to`'],
  ['an anchor without filters', { date_range: '30days', to: {} }, 'to.filters', 'is required'],
  ['no step', { ...ANCHORED, depth: 0 }, 'depth', ''],
  ['six steps', { ...ANCHORED, depth: 6 }, 'depth', ''],
  ['no rows', { ...ANCHORED, limit: 0 }, 'limit', ''],
  ['too many rows', { ...ANCHORED, limit: 1_001 }, 'limit', ''],
  ['no kind of step', { ...ANCHORED, kinds: [] }, 'kinds', ''],
  ['another kind', { ...ANCHORED, kinds: ['none'] }, 'kinds.0', 'must be one of: page, event'],
  ['a kind twice', { ...ANCHORED, kinds: ['page', 'page'] }, 'kinds', ''],
  [
    'too many filters in all',
    { ...ANCHORED, filters: Array(20).fill(nested(0)) },
    'filters',
    'must hold at most 20 filters in all, and hold 21',
  ],
  [
    'filters of its anchor too deep',
    { date_range: '30days', to: { filters: [nested(5)] } },
    'to.filters.0.filters.0.filters.0.filters.0.filters.0',
    'must not lie in more than 3',
  ],
  [
    'a pattern that does not compile',
    {
      date_range: '30days',
      to: { filters: [{ type: 'page', path: { operator: 'matches', value: '(' } }] },
    },
    'to.filters.0.path.value',
    'RE2',
  ],
  ['another member', { ...ANCHORED, within: 'visit' }, 'within', 'is not a known'],
])('a request for journeys with %s is refused', async (_, body, field, message) => {
  const { status, faults } = await send(echo, body, JOURNEYS)
  expect(status).toBe(400)
  expect(faults).toContainEqual({ field, message: expect.stringContaining(message) })
})
