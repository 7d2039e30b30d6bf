/** The queue of queries: its limits, whose turn it is, and which queries it refuses. */
import { afterEach, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { setImmediate as tick, setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../../../../src/contract/errors.js'
import type { ReaderPace } from '../../../../src/http/formats/reader-pace.js'
import {
  createQueryQueue,
  type QueryQueue,
  type QueueLimits,
} from '../../../../src/http/query/queue/query-queue.js'

const NEVER = new AbortController().signal
/** The clients of a test that wait at its end. */
const clients: AbortController[] = []
afterEach(() => {
  for (const client of clients.splice(0)) client.abort()
})

const LIMITS: QueueLimits = { perKey: 2, inAll: 3, waiting: 100, timeoutMs: 10_000 }

/** A query whose end the test decides. */
interface Query {
  readonly key: string
  state: 'waiting' | 'running' | 'answered' | 'refused' | 'failed'
  leftMs?: number
  isExtra?: boolean
  pace?: ReaderPace
  error?: unknown
  readonly end: (error?: Error) => Promise<void>
  readonly leave: () => Promise<void>
}

/** A queue with a clock that the test sets. */
function createTestQueue(limits: Partial<QueueLimits> = {}) {
  const clock = { ms: 0 }
  const queue = createQueryQueue({ ...LIMITS, ...limits }, () => clock.ms)
  const queries: Query[] = []
  const ask = (key: string): Query => {
    const client = new AbortController()
    clients.push(client)
    let finish = (_error?: Error): void => undefined
    const query: Query = {
      key,
      state: 'waiting',
      end: async (error) => {
        finish(error)
        await tick()
      },
      leave: async () => {
        client.abort(new Error('gone'))
        await tick()
      },
    }
    queries.push(query)
    queue
      .run(key, client.signal, ({ leftMs, isExtra, pace }) => {
        query.state = 'running'
        Object.assign(query, { leftMs, isExtra, pace })
        return new Promise<void>((resolve, reject) => {
          finish = (error) => (error === undefined ? resolve() : reject(error))
          pace.signal.addEventListener('abort', () => reject(pace.signal.reason as Error))
        })
      })
      .then(
        () => (query.state = 'answered'),
        (error: unknown) => {
          query.state = error instanceof ApiError ? 'refused' : 'failed'
          query.error = error
        },
      )
    return query
  }
  const list = (state: Query['state']) => queries.filter((query) => query.state === state)
  return { queue, clock, ask, list }
}

const codes = (queries: readonly Query[]) =>
  queries.map(({ error }) => (error instanceof ApiError ? error.code : error))
const statesOf = (queries: readonly Query[]) => queries.map(({ state }) => state).join(' ')

describe('a refusal is known before', () => {
  const find = ({ queue }: ReturnType<typeof createTestQueue>, key: string) =>
    queue.findRefusal(key)?.code

  test.each<[string, Partial<QueueLimits>, string, string | undefined]>([
    ['a place is free', { perKey: 2 }, 'a', undefined],
    ['there is room to wait', { perKey: 1 }, 'a', undefined],
    ['no room, its own key is in the way', { perKey: 1, waiting: 0 }, 'a', 'RATE_LIMIT_EXCEEDED'],
    ['no room, other keys are in the way', { inAll: 1, waiting: 0 }, 'b', 'SERVICE_UNAVAILABLE'],
    ['nothing may run', { inAll: 0, waiting: 0 }, 'a', 'SERVICE_UNAVAILABLE'],
  ])('%s', async (_what, limits, key, code) => {
    const tested = createTestQueue(limits)
    tested.ask('a')
    const before = tested.queue.count()
    expect(find(tested, key)).toBe(code)
    expect(tested.queue.count()).toEqual(before)
    const asked = tested.ask(key)
    await tick()
    expect(asked.state === 'refused' ? codes([asked]) : [undefined]).toEqual([code])
  })

  test('of a query that would not end in time', async () => {
    const tested = createTestQueue({ perKey: 1, inAll: 1, timeoutMs: 1_000 })
    const [first] = ['a', 'a'].map(tested.ask)
    tested.clock.ms = 400
    await first?.end()
    expect(find(tested, 'a')).toBeUndefined()
    tested.ask('a')
    expect(find(tested, 'a')).toBe('RATE_LIMIT_EXCEEDED')
  })

  test('a key with few waiting queries has room when another has many', () => {
    const tested = createTestQueue({ perKey: 1, inAll: 1, waiting: 2 })
    ;['a', 'a', 'a'].forEach(tested.ask)
    expect([find(tested, 'a'), find(tested, 'b')]).toEqual(['RATE_LIMIT_EXCEEDED', undefined])
  })
})

describe('limits', () => {
  test('a key, and all keys together, run a limited number of queries at once; the others wait', () => {
    const { queue, ask } = createTestQueue()
    const asked = ['a', 'a', 'a', 'b', 'c'].map(ask)
    expect(statesOf(asked)).toBe('running running waiting running waiting')
    expect(queue.count()).toEqual({ running: 3, waiting: 2 })
  })

  test('a query knows whether its key has others running', async () => {
    const { ask } = createTestQueue({ perKey: 2, inAll: 3 })
    const asked = ['a', 'a', 'b', 'b'].map(ask)
    await asked[1]?.end()
    expect(asked.map(({ isExtra }) => isExtra)).toEqual([false, true, false, true])
  })

  test('a query gets the milliseconds that its waiting left', async () => {
    const { clock, ask } = createTestQueue({ perKey: 1 })
    const [first, second] = [ask('a'), ask('a')]
    clock.ms = 400
    await first.end()
    expect([first.leftMs, second.leftMs]).toEqual([10_000, 9_600])
  })

  test('a query that fails makes room like any other', async () => {
    const { ask } = createTestQueue({ perKey: 1 })
    const [first, second] = [ask('a'), ask('a')]
    const error = new Error('failed')
    await first.end(error)
    expect([first.error, second.state]).toEqual([error, 'running'])
  })

  test('a client that leaves gives its place to the next', async () => {
    const { queue, ask } = createTestQueue({ perKey: 1 })
    const [first, second, third] = [ask('a'), ask('a'), ask('a')]
    await second.leave()
    await first.end()
    expect(statesOf([first, second, third])).toBe('answered refused running')
    await third.end()
    expect(queue.count()).toEqual({ running: 0, waiting: 0 })
  })

  test('nothing begins for a client that has left', async () => {
    const { queue } = createTestQueue({ inAll: 0 })
    const asked = queue.run('a', AbortSignal.abort(), () => Promise.resolve())
    await expect(asked).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })
})

describe('turns', () => {
  test('the key with the fewest running queries is next, then the one whose turn is longest ago', async () => {
    const { ask } = createTestQueue()
    const [a1, a2, b1] = [ask('a'), ask('a'), ask('b')]
    const [a3, b2, c1, d1] = [ask('a'), ask('b'), ask('c'), ask('d')]
    await a1.end()
    expect(statesOf([a3, b2, c1, d1])).toBe('waiting waiting running waiting')
    await a2.end()
    expect(statesOf([a3, b2, c1, d1])).toBe('running waiting running waiting')
    await b1.end()
    expect(statesOf([a3, b2, c1, d1])).toBe('running running running waiting')
  })

  test('a full queue: the key with the most waiting queries loses its latest', async () => {
    const { ask } = createTestQueue({ perKey: 1, inAll: 1, waiting: 3 })
    const [running, a1, a2, a3] = [ask('a'), ask('a'), ask('a'), ask('a')]
    const b1 = ask('b')
    await tick()
    expect(statesOf([running, a1, a2, a3, b1])).toBe('running waiting waiting refused waiting')
    const a4 = ask('a')
    const b2 = ask('b')
    await tick()
    expect(statesOf([a1, a2, b1, a4, b2])).toBe('waiting waiting waiting refused refused')
    expect(codes([a3, a4, b2])).toEqual([
      'RATE_LIMIT_EXCEEDED',
      'RATE_LIMIT_EXCEEDED',
      'SERVICE_UNAVAILABLE',
    ])
  })
})

describe('refusals', () => {
  /** Ends queries of a key that took this number of milliseconds. */
  async function learn(
    { ask, clock }: ReturnType<typeof createTestQueue>,
    key: string,
    ms: number,
  ): Promise<void> {
    for (let i = 0; i < 20; i++) {
      const query = ask(key)
      clock.ms += ms
      await query.end()
    }
  }

  test.each([
    { what: 'its own key', asked: ['a', 'a', 'a', 'a'], code: 'RATE_LIMIT_EXCEEDED' },
    { what: 'other keys', asked: ['a', 'b', 'c', 'd'], code: 'SERVICE_UNAVAILABLE' },
  ])('$code: a query that would wait too long for $what', async ({ asked, code }) => {
    const given = createTestQueue({ perKey: 1, inAll: 1 })
    await learn(given, 'z', 3_000)
    const queries = asked.map(given.ask)
    await tick()
    // The third would end after 9 s, and the fourth after 12 s.
    expect(statesOf(queries)).toBe('running waiting waiting refused')
    expect(codes(queries.slice(3))).toEqual([code])
  })

  test('a query that has too little time left is not begun', async () => {
    const given = createTestQueue({ perKey: 1 })
    await learn(given, 'a', 10)
    const [first, second] = [given.ask('a'), given.ask('a')]
    given.clock.ms += 9_000
    await first.end()
    expect([second.state, ...codes([second])]).toEqual(['refused', 'RATE_LIMIT_EXCEEDED'])
  })

  test('a query is refused at its deadline, even if nothing ends', async () => {
    const queue = createQueryQueue({ ...LIMITS, inAll: 1, timeoutMs: 50 })
    let end = (): void => undefined
    const running = queue.run('a', NEVER, () => new Promise<void>((resolve) => (end = resolve)))
    await expect(queue.run('b', NEVER, () => Promise.resolve())).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      headers: { 'Retry-After': '1' },
    })
    expect(queue.count()).toEqual({ running: 1, waiting: 0 })
    end()
    await running
  })

  test('queries that take longer than the deadline do not close the queue for good', async () => {
    const given = createTestQueue({ perKey: 1, inAll: 1 })
    await learn(given, 'a', 60_000)
    expect(given.ask('a').state).toBe('running')
  })
})

describe('streams', () => {
  const STREAMS = {
    owner: 'project',
    leastPace: { bytesPerSecond: 1_000, patienceMs: 5_000 },
  } as const

  /** Begins streams whose readers take nothing. */
  async function beginStreams(limits: Partial<QueueLimits>, keys: readonly string[]) {
    const given = createTestQueue({ ...STREAMS, ...limits })
    const streams = keys.map(given.ask)
    const offer = async function* () {
      yield await Promise.resolve(new Uint8Array(1))
    }
    for (const { pace } of streams) await pace?.measure(offer()).next()
    return { ...given, streams }
  }

  test('one project leaves the others their places', async () => {
    const { ask, streams } = await beginStreams({ perKey: 2, inAll: 4 }, ['a', 'a', 'a'])
    expect(statesOf([...streams, ask('b')])).toBe('running running waiting running')
  })

  test.each([
    ['a slow reader ends for another project', ['a', 'b'], 'c', ['refused', 'running']],
    [
      'a slow reader ends for its own project',
      ['b', 'a', 'a'],
      'a',
      ['running', 'refused', 'running'],
    ],
  ])('%s, one for each that waits', async (_what, keys, asked, states) => {
    const { clock, ask, streams } = await beginStreams({ perKey: 2, inAll: keys.length }, keys)
    clock.ms = 5_000
    const next = ask(asked)
    await tick()
    expect(streams.map(({ state }) => state)).toEqual(states)
    expect(codes(streams.filter(({ state }) => state === 'refused'))).toEqual([
      'SERVICE_UNAVAILABLE',
    ])
    expect([next.state, next.leftMs]).toEqual(['running', 10_000])
  })

  test('a reader becomes slow while another waits', async () => {
    const { clock, ask, streams } = await beginStreams({ perKey: 1, inAll: 1 }, ['a'])
    const next = ask('b')
    clock.ms = 5_000
    while (next.state === 'waiting') await sleep(20)
    expect(statesOf([...streams, next])).toBe('refused running')
  })

  test('no reader ends while nobody waits, or before it is slow', async () => {
    const { clock, ask, streams } = await beginStreams({ perKey: 2, inAll: 2 }, ['a', 'a'])
    clock.ms = 4_999
    const waiting = ask('b')
    await tick()
    expect(statesOf([...streams, waiting])).toBe('running running waiting')
    await waiting.leave()
    clock.ms = 60_000
    await tick()
    expect(statesOf(streams)).toBe('running running')
  })

  test('a stream waits however long those before it took', async () => {
    const { clock, ask, streams } = await beginStreams({ perKey: 1, inAll: 1 }, ['a'])
    clock.ms = 3_600_000
    await streams[0]?.end()
    const [first, second] = [ask('a'), ask('a')]
    await first.end()
    expect(second.state).toBe('running')
  })

  test('a project with too many is told so', async () => {
    const { ask } = await beginStreams({ perKey: 1, waiting: 0 }, ['a'])
    const refused = ask('a')
    await tick()
    expect(refused.error).toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      message:
        'The project has too many streams or exports at once. Wait for their responses, or the seconds given in Retry-After.',
    })
  })
})

/** A step of a random run: a key asks, or one of the queries that run or wait ends or leaves. */
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ ask: fc.constantFrom('a', 'b', 'c', 'd') }) },
  { weight: 2, arbitrary: fc.record({ end: fc.nat(100), fails: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ leave: fc.nat(100) }) },
)
const limits = fc.record({
  perKey: fc.integer({ min: 1, max: 3 }),
  inAll: fc.integer({ min: 1, max: 5 }),
  waiting: fc.integer({ min: 0, max: 6 }),
})

test('in any run: limits hold, no place stays empty, keys keep their order, every query ends', () =>
  fc.assert(
    fc.asyncProperty(limits, fc.array(step, { maxLength: 60 }), async (given, steps) => {
      const { queue, ask, list } = createTestQueue(given)
      const asked: Query[] = []
      for (const one of steps) {
        const before = list('waiting')
        if ('ask' in one) asked.push(ask(one.ask))
        else if ('end' in one) {
          const running = list('running')
          await running[one.end % running.length]?.end(one.fails ? new Error('failed') : undefined)
        } else await before[one.leave % before.length]?.leave()
        await tick()
        expectSound(queue, given, list)
        // Queries of one key begin in the order in which they came.
        for (const query of before.filter(({ state }) => state === 'running')) {
          const earlier = before.slice(0, before.indexOf(query))
          expect(
            earlier.filter(({ key, state }) => key === query.key && state === 'waiting'),
          ).toEqual([])
        }
      }
      while (list('running').length > 0) await list('running')[0]!.end()
      expect(queue.count()).toEqual({ running: 0, waiting: 0 })
      expect(asked.filter(({ state }) => state === 'waiting' || state === 'running')).toEqual([])
    }),
    { numRuns: 200 },
  ))

function expectSound(
  queue: QueryQueue,
  given: Pick<QueueLimits, 'perKey' | 'inAll' | 'waiting'>,
  list: (state: Query['state']) => readonly Query[],
): void {
  const [running, waiting] = [list('running'), list('waiting')]
  expect(queue.count()).toEqual({ running: running.length, waiting: waiting.length })
  expect(running.length).toBeLessThanOrEqual(given.inAll)
  expect(waiting.length).toBeLessThanOrEqual(given.waiting)
  const countOf = (key: string) => running.filter((query) => query.key === key).length
  for (const { key } of running) expect(countOf(key)).toBeLessThanOrEqual(given.perKey)
  if (running.length === given.inAll) return
  for (const { key } of waiting) expect(countOf(key)).toBe(given.perKey)
}
