/** Responses of retention, funnels and lists of values from memory: which questions have the same one, and until when. */
import { expect, test } from '@jest/globals'
import { createResponseCache } from '../../../../src/analytics/cache/responses.js'
import { FUNNEL } from '../../../../src/analytics/operations/funnel.js'
import { isAnswered } from '../../../../src/analytics/operations/list.js'
import type { AnyOperation, QueriedProject } from '../../../../src/analytics/operation.js'
import { RETENTION } from '../../../../src/analytics/operations/retention.js'
import { VALUES } from '../../../../src/analytics/operations/values.js'
import type {
  FunnelRequest,
  RetentionRequest,
  ValuesRequest,
} from '../../../../src/contract/api.js'

const PROJECT: QueriedProject = {
  id: 'p',
  createdAt: new Date('2026-01-01T00:00:00Z'),
  retentionDays: null,
  keepDays: null,
  hasCutSessions: false,
  shards: [],
  isWidening: false,
}
const NOON = new Date('2026-06-15T12:00:00.500Z')
const COHORTS: RetentionRequest = {
  interval: 'day',
  date_range: ['2026-06-10', '2026-06-12'],
  filters: [],
  filtersOperator: 'and',
}
const FIREFOX: RetentionRequest['filters'] = [
  { type: 'browser', operator: 'oneOf', value: ['Firefox'] },
]
const STEP: FunnelRequest['steps'][number] = { filters: [], filtersOperator: 'and' }
const STEPS: FunnelRequest = {
  date_range: ['2026-06-10', '2026-06-12'],
  steps: [STEP, { ...STEP, filters: FIREFOX }],
  within: 'visit',
  filters: [],
  filtersOperator: 'and',
}
const COUNTRIES: ValuesRequest = {
  field: 'country',
  date_range: ['2026-06-10', '2026-06-12'],
  search: '',
  limit: 10,
}

/** Responses whose rows count how often one was computed. @param last the last event */
function createWorld(last = new Date('2026-06-15T11:00:00Z')) {
  const state = { now: NOON }
  const answers = createResponseCache({
    maxBytes: 1_000_000,
    readVersion: () => Promise.resolve('1'),
    getLastVersion: () => '1',
    isCurrent: () => true,
    hasEventsFrom: (_project, moment) => Promise.resolve(last >= moment),
    readsRollups: () => true,
    now: () => state.now,
  })
  let computed = 0
  const ask = async (operation: AnyOperation, request: object) => {
    if (!isAnswered(operation)) throw new TypeError('its responses are not kept')
    const { source, text } = await answers.answer(
      {
        operation,
        request: request as never,
        project: PROJECT,
        keyId: 'key',
        signal: new AbortController().signal,
      },
      () => {
        const resolved = operation.resolve(request as never, PROJECT, null, state.now)
        return Promise.resolve({ resolved, rows: { data: ++computed } })
      },
    )
    // What is learnt after an answer is learnt by now.
    await new Promise(setImmediate)
    return [source, (JSON.parse(text) as { data: number }).data]
  }
  const askRetention = (asked: Partial<RetentionRequest> = {}) =>
    ask(RETENTION, { ...COHORTS, ...asked })
  const askFunnel = (asked: Partial<FunnelRequest> = {}) => ask(FUNNEL, { ...STEPS, ...asked })
  const askValues = (asked: Partial<ValuesRequest> = {}) => ask(VALUES, { ...COUNTRIES, ...asked })
  return { state, askRetention, askFunnel, askValues }
}

test.each<[name: string, other: Partial<RetentionRequest>, isSame: boolean]>([
  ['again', {}, true],
  ['with the intervals that are the default', { intervals: 2 }, true],
  ['with seconds', { date_range: ['2026-06-10T00:00:00Z', '2026-06-12T23:59:59Z'] }, true],
  ['with more intervals', { intervals: 3 }, false],
  ['by week', { interval: 'week' }, false],
  ['with a filter', { filters: FIREFOX }, false],
  ['from another moment', { date_range: ['2026-06-10T00:00:01Z', '2026-06-12'] }, false],
  ['to another day', { date_range: ['2026-06-10', '2026-06-13'], intervals: 2 }, false],
])('retention %s', async (_name, other, isSame) => {
  const { askRetention } = createWorld()
  expect(await askRetention()).toEqual(['miss', 1])
  expect(await askRetention(other)).toEqual(isSame ? ['hit', 1] : ['miss', 2])
})

test.each<[name: string, other: Partial<FunnelRequest>, isSame: boolean]>([
  ['again', {}, true],
  ['with seconds', { date_range: ['2026-06-10T00:00:00Z', '2026-06-12T23:59:59Z'] }, true],
  ['within seconds', { within: 60 }, false],
  ['with other steps', { steps: [STEP, STEP] }, false],
  ['with steps in another order', { steps: [...STEPS.steps].reverse() }, false],
  ['with a filter', { filters: FIREFOX }, false],
  ['to another day', { date_range: ['2026-06-10', '2026-06-13'] }, false],
])('a funnel %s', async (_name, other, isSame) => {
  const { askFunnel } = createWorld()
  expect(await askFunnel()).toEqual(['miss', 1])
  expect(await askFunnel(other)).toEqual(isSame ? ['hit', 1] : ['miss', 2])
})

test.each<[name: string, other: Partial<ValuesRequest>, isSame: boolean]>([
  ['again', {}, true],
  ['with seconds', { date_range: ['2026-06-10T00:00:00Z', '2026-06-12T23:59:59Z'] }, true],
  ['of another field', { field: 'city' }, false],
  ['of a property', { field: 'event:prop:plan' }, false],
  ['of the names of properties', { field: 'event:prop' }, false],
  ['that contain a text', { search: 'a' }, false],
  ['with another limit', { limit: 11 }, false],
  ['with a filter', { filters: FIREFOX }, false],
  ['to another day', { date_range: ['2026-06-10', '2026-06-13'] }, false],
])('values %s', async (_name, other, isSame) => {
  const { askValues } = createWorld()
  expect(await askValues()).toEqual(['miss', 1])
  expect(await askValues(other)).toEqual(isSame ? ['hit', 1] : ['miss', 2])
})

test('names of properties that contain different texts', async () => {
  const { askValues } = createWorld()
  expect(await askValues({ field: 'event:prop', search: 'a' })).toEqual(['miss', 1])
  expect(await askValues({ field: 'event:prop', search: 'b' })).toEqual(['miss', 2])
  expect(await askValues({ field: 'event:prop', search: 'a' })).toEqual(['hit', 1])
})

test('no answer of one operation is given to another', async () => {
  const { askRetention, askFunnel, askValues } = createWorld()
  expect(await askRetention()).toEqual(['miss', 1])
  expect(await askFunnel()).toEqual(['miss', 2])
  expect(await askValues()).toEqual(['miss', 3])
})

test('retention of the past is the same at any time, that of the present until an interval begins', async () => {
  const { state, askRetention } = createWorld()
  const running: Partial<RetentionRequest> = { date_range: '7days', intervals: 6 }
  expect(await askRetention()).toEqual(['miss', 1])
  expect(await askRetention(running)).toEqual(['miss', 2])
  state.now = new Date('2026-06-15T23:59:59Z')
  expect(await askRetention()).toEqual(['hit', 1])
  expect(await askRetention(running)).toEqual(['hit', 2])
  state.now = new Date('2026-06-16T00:00:00Z')
  expect(await askRetention()).toEqual(['hit', 1])
  // The same days, but one more has begun.
  const same: Partial<RetentionRequest> = { ...running, date_range: ['2026-06-09', '2026-06-15'] }
  expect(await askRetention(same)).toEqual(['miss', 3])
})

test('with an event after now, an answer about the present is given for a second', async () => {
  const { state, askRetention, askFunnel } = createWorld(new Date('2026-06-15T13:00:00Z'))
  const period = { date_range: '7days' } as const
  expect([await askRetention(period), await askFunnel(period)]).toEqual([
    ['miss', 1],
    ['miss', 2],
  ])
  expect([await askRetention(period), await askFunnel(period)]).toEqual([
    ['hit', 1],
    ['hit', 2],
  ])
  state.now = new Date('2026-06-15T12:00:01.500Z')
  expect([await askRetention(period), await askFunnel(period)]).toEqual([
    ['miss', 3],
    ['miss', 4],
  ])
})
