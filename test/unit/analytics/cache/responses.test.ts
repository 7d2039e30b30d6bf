/** Responses from memory: which questions have the same one, and until when. */
import { expect, test } from '@jest/globals'
import {
  createResponseCache,
  type ResponseCache,
} from '../../../../src/analytics/cache/responses.js'
import type { QueriedProject } from '../../../../src/analytics/operation.js'
import { QUERY, resolveRequest } from '../../../../src/analytics/operations/query.js'
import type { AnalyticsQueryResponse } from '../../../../src/contract/api.js'
import { shapeEcho } from '../../../../src/analytics/response.js'
import { fillDefaults, type PartialRequest } from '../../../support/world/world.js'

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

interface State {
  now: Date
  version: string | undefined
  /** The version that was seen last; the current one if left out. */
  seen?: string
  /** Reading the version takes that long. */
  reading: Promise<void>
  /** The last event. */
  last: Date
  first: Date | null
  readsRollups: boolean
  /** Happens just before it is checked whether the version is still the same. */
  onCheck: () => void
  /** Computations wait for it. */
  turn: Promise<void>
}

/** Responses whose rows count how often one was computed. */
function createWorld({
  maxBytes = 1_000_000,
  ...given
}: Partial<State & { maxBytes: number }> = {}) {
  const state: State = {
    now: NOON,
    version: '1',
    reading: Promise.resolve(),
    last: new Date('2026-06-15T11:00:00Z'),
    first: new Date('2026-02-01T10:00:00Z'),
    readsRollups: true,
    onCheck: () => undefined,
    turn: Promise.resolve(),
    ...given,
  }
  const answers: ResponseCache = createResponseCache({
    maxBytes,
    readVersion: async () => {
      await state.reading
      return state.version
    },
    getLastVersion: () => state.seen ?? state.version,
    isCurrent: (_id, version) => {
      state.onCheck()
      return version === state.version
    },
    hasEventsFrom: (_id, moment) => Promise.resolve(state.last >= moment),
    readsRollups: () => state.readsRollups,
    now: () => state.now,
  })
  let computed = 0
  const ask = async (
    asked: PartialRequest,
    project: QueriedProject = PROJECT,
    keyId = 'key',
  ): Promise<[source: string, count: unknown]> => {
    const request = fillDefaults(asked)
    const { source, text, body } = await answers.answer(
      {
        operation: QUERY,
        request: request as never,
        project,
        keyId,
        signal: new AbortController().signal,
      },
      async ({ facts }) => {
        await state.turn
        if (request.date_range === 'all') facts.firstEventAt = state.first
        const resolved = resolveRequest(request, project, facts.firstEventAt ?? null, state.now)
        const pagination = { limit: 100, offset: 0, returned: 1, total: 1 }
        const data = [{ group: {}, metrics: { users: ++computed } }]
        return { resolved, rows: { pagination, data } }
      },
    )
    if (body !== undefined) expect(text).toBe(JSON.stringify(body))
    const parsed = JSON.parse(text) as AnalyticsQueryResponse
    const query = resolveRequest(request, project, state.first, state.now)
    expect(parsed).toMatchObject(shapeEcho(request, query))
    // What is learnt after an answer is learnt by now.
    await new Promise(setImmediate)
    return [source, parsed.data[0]?.metrics.users]
  }
  return { state, answers, ask }
}

const FIXED: PartialRequest = { date_range: ['2026-03-01', '2026-03-31'] }

test('an answer is given again until the data changes', async () => {
  const { state, ask } = createWorld()
  expect(await ask(FIXED)).toEqual(['miss', 1])
  expect(await ask(FIXED)).toEqual(['hit', 1])
  state.version = '2'
  expect(await ask(FIXED)).toEqual(['miss', 2])
  expect(await ask(FIXED)).toEqual(['hit', 2])
})

test('a question that was not asked before does not wait for the version of the data', async () => {
  const { state, ask } = createWorld({ reading: new Promise(() => undefined) })
  expect(await ask(FIXED)).toEqual(['miss', 1])
  state.reading = Promise.resolve()
  // The version is that of before, so the data was the same all the time.
  expect(await ask(FIXED)).toEqual(['hit', 1])
})

test('an equal question is computed once, also if the first answer comes before the version of the data', async () => {
  let tellVersion = (): void => undefined
  const { ask } = createWorld({ reading: new Promise((resolve) => (tellVersion = resolve)) })
  const [first, ...others] = [ask(FIXED), ask(FIXED), ask(FIXED)]
  expect(await first).toEqual(['miss', 1])
  tellVersion()
  expect(await Promise.all(others)).toEqual([
    ['hit', 1],
    ['hit', 1],
  ])
})

test('its answer is given again only if the version that was seen before is the current one afterwards', async () => {
  const { state, ask } = createWorld({ seen: '0' })
  expect(await ask(FIXED)).toEqual(['miss', 1])
  state.seen = '1'
  expect(await ask(FIXED)).toEqual(['miss', 2])
  expect(await ask(FIXED)).toEqual(['hit', 2])
})

test('equal new questions are computed once, and apart from those of another version', async () => {
  let begin = (): void => undefined
  const { state, ask } = createWorld({ turn: new Promise((resolve) => (begin = resolve)) })
  const same = [ask(FIXED), ask(FIXED)]
  await new Promise(setImmediate)
  state.version = '2'
  const later = ask(FIXED)
  begin()
  expect(await Promise.all([...same, later])).toEqual([
    ['miss', 1],
    ['coalesced', 1],
    ['miss', 2],
  ])
})

test('while the data changes nothing is given again, and nothing kept', async () => {
  const { state, ask } = createWorld()
  await ask(FIXED)
  state.version = undefined
  expect(await ask(FIXED)).toEqual(['miss', 2])
  state.version = '1'
  expect(await ask(FIXED)).toEqual(['hit', 1])
})

test.each([
  ['changed', '2'],
  ['is unknown', undefined],
])('nothing is given again when the version %s at the last moment', async (_how, version) => {
  const { state, ask } = createWorld()
  await ask(FIXED)
  state.onCheck = () => (state.version = version)
  expect(await ask(FIXED)).toEqual(['miss', 2])
  state.onCheck = () => undefined
  state.version = '1'
  expect(await ask(FIXED)).toEqual(['hit', 1])
  state.onCheck = () => (state.version = version)
  // Nor are questions answered together that were asked before and after.
  const [first] = [ask({ ...FIXED, offset: 1 }), ask({ ...FIXED, offset: 1 })]
  expect(await first).toEqual(['miss', 3])
})

test.each<[name: string, other: PartialRequest, isSame: boolean]>([
  ['in other words', { ...FIXED, metrics: [] }, true],
  ['with seconds', { date_range: ['2026-03-01T00:00:00Z', '2026-03-31T23:59:59Z'] }, true],
  ['for other metrics', { ...FIXED, metrics: ['users'] }, false],
  ['with another page', { ...FIXED, offset: 1 }, false],
  ['with a filter', { ...FIXED, filters: [{ type: 'user', anonymous: true }] }, false],
  ['from another day', { date_range: ['2026-03-02', '2026-03-31'] }, false],
  ['to another day', { date_range: ['2026-03-01', '2026-03-30'] }, false],
  ['by time', { ...FIXED, group_by: ['interval:auto'] }, false],
])('a question %s', async (_name, other, isSame) => {
  const { ask } = createWorld()
  await ask(FIXED)
  expect(await ask(other)).toEqual(isSame ? ['hit', 1] : ['miss', 2])
})

test('another project has other answers, also a later one with the same id', async () => {
  const { ask } = createWorld()
  await ask(FIXED)
  expect(await ask(FIXED, { ...PROJECT, id: 'q' })).toEqual(['miss', 2])
  expect(await ask(FIXED, { ...PROJECT, createdAt: NOON })).toEqual(['miss', 3])
  expect(await ask(FIXED)).toEqual(['hit', 1])
})

test('answers from the rollups are not given when they may not be read', async () => {
  const { state, ask } = createWorld()
  await ask(FIXED)
  state.readsRollups = false
  expect(await ask(FIXED)).toEqual(['miss', 2])
})

test('a period that ends now has the same answer while there is no later event', async () => {
  const { state, ask } = createWorld()
  expect(await ask({ date_range: '7days' })).toEqual(['miss', 1])
  state.now = new Date(NOON.getTime() + 60_000)
  expect(await ask({ date_range: '7days' })).toEqual(['hit', 1])
  expect(await ask({ date_range: ['2026-06-09', '2026-06-15'] })).toEqual(['hit', 1])
  // The period begins with another day.
  state.now = new Date('2026-06-16T00:00:00Z')
  expect(await ask({ date_range: '7days' })).toEqual(['miss', 2])
})

test('with an event after now, such an answer is given for a second', async () => {
  const { state, ask } = createWorld({ last: new Date('2026-06-15T12:00:30Z') })
  expect(await ask({ date_range: '7days' })).toEqual(['miss', 1])
  expect(await ask({ date_range: '7days' })).toEqual(['hit', 1])
  state.now = new Date(NOON.getTime() + 60_000)
  expect(await ask({ date_range: '7days' })).toEqual(['miss', 2])
})

test('a time series that ends now has another answer when a bucket begins', async () => {
  const asked: PartialRequest = { date_range: 'today', group_by: ['interval:auto'] }
  const { state, ask } = createWorld()
  expect(await ask(asked)).toEqual(['miss', 1])
  state.now = new Date('2026-06-15T12:59:59.999Z')
  expect(await ask(asked)).toEqual(['hit', 1])
  state.now = new Date('2026-06-15T13:00:00.000Z')
  expect(await ask(asked)).toEqual(['miss', 2])
})

test.each<[string, PartialRequest, boolean]>([
  ['with the same', { ...FIXED, compare: 'previous_year' }, true],
  ['in other words', { ...FIXED, compare: ['2025-03-01', '2025-03-31'] }, true],
  ['with another', { ...FIXED, compare: 'previous_period' }, false],
  ['with a shorter one', { ...FIXED, compare: ['2025-03-01', '2025-03-30'] }, false],
  ['with none', FIXED, false],
])('a period compared %s', async (_how, other, isSame) => {
  const { ask } = createWorld()
  await ask({ ...FIXED, compare: 'previous_year' })
  expect(await ask(other)).toEqual(isSame ? ['hit', 1] : ['miss', 2])
})

test('a period that ends now is kept for a second if it is compared with one that moves, too', async () => {
  const { state, ask } = createWorld()
  const fixed: PartialRequest = { date_range: '7days', compare: ['2026-05-01', '2026-05-07'] }
  const moving: PartialRequest = { date_range: '7days', compare: 'previous_period' }
  expect([await ask(fixed), await ask(moving)]).toEqual([
    ['miss', 1],
    ['miss', 2],
  ])
  expect(await ask(moving)).toEqual(['hit', 2])
  state.now = new Date(NOON.getTime() + 1_000)
  expect([await ask(fixed), await ask(moving)]).toEqual([
    ['hit', 1],
    ['miss', 3],
  ])
})

test('the first event is looked up once in a version', async () => {
  const { state, ask } = createWorld()
  expect(await ask({ date_range: 'all' })).toEqual(['miss', 1])
  expect(await ask({ date_range: 'all' })).toEqual(['hit', 1])
  state.version = '2'
  state.first = new Date('2026-01-15T00:00:00Z')
  expect(await ask({ date_range: 'all' })).toEqual(['miss', 2])
  expect(await ask({ date_range: 'all' })).toEqual(['hit', 2])
})

test('retention is checked before a known answer is given', async () => {
  const { ask } = createWorld()
  await ask(FIXED)
  await expect(ask(FIXED, { ...PROJECT, retentionDays: 10 })).rejects.toMatchObject({
    code: 'PLAN_LIMIT_EXCEEDED',
  })
})

test('equal questions of a key at the same time are computed once, also without room', async () => {
  const { ask } = createWorld({ maxBytes: 0, turn: new Promise(setImmediate) })
  expect(await Promise.all([ask(FIXED), ask(FIXED), ask(FIXED, PROJECT, 'other')])).toEqual([
    ['miss', 1],
    ['coalesced', 1],
    ['miss', 2],
  ])
  expect(await ask(FIXED)).toEqual(['miss', 3])
})

test('a question is not answered with that of another time, for which the first had to wait', async () => {
  const { state, ask } = createWorld({ now: new Date('2026-06-15T12:59:59.500Z') })
  let begin = (): void => undefined
  state.turn = new Promise((resolve) => (begin = resolve))
  const asked: PartialRequest = { date_range: 'today', group_by: ['interval:auto'] }
  const answers = [ask(asked), ask(asked)]
  await new Promise(setImmediate)
  state.now = new Date('2026-06-15T13:00:00Z')
  begin()
  expect(await Promise.all(answers)).toEqual([
    ['miss', 1],
    ['miss', 2],
  ])
})

test('the room is bounded', async () => {
  const { answers, ask } = createWorld({ maxBytes: 20_000 })
  for (let offset = 0; offset < 100; offset++) await ask({ ...FIXED, offset })
  expect(answers.countBytes()).toBeGreaterThan(10_000)
  expect(answers.countBytes()).toBeLessThanOrEqual(20_000)
})
