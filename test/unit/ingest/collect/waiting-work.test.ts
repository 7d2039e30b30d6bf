/** The work that waits: what is refused, and when it is loaded. */
import { expect, test } from '@jest/globals'
import type { ApiError } from '../../../../src/contract/errors.js'
import {
  createWaitingWork,
  type InboxView,
  type WaitingWork,
} from '../../../../src/ingest/collect/waiting-work.js'

const MAX = 1_000
const ARRIVAL = new Date('2026-03-01T00:00:00.000Z')
/** Sizes of requests: each may go further than the next. */
const [SMALLEST, SMALL, LARGE] = [24, 256, 257]

/** Returns the limit, and a function that sets what the loader sees. */
function start(): { waiting: WaitingWork; see: (inbox: Partial<InboxView>) => void } {
  let inbox: InboxView = { askedAt: -Infinity, oldestAt: Infinity, isLate: false }
  return {
    waiting: createWaitingWork(MAX, () => inbox),
    see: (seen) => (inbox = { ...inbox, ...seen }),
  }
}

/** Returns the code of the refusal; undefined if the work is accepted. */
function refuse({ check }: WaitingWork, projectId: string, work: number): string | undefined {
  try {
    check(projectId, work)
    return undefined
  } catch (error) {
    return (error as ApiError).code
  }
}

const refuseEach = (waiting: WaitingWork, projectId: string): readonly (string | undefined)[] =>
  [SMALLEST, SMALL, LARGE].map((work) => refuse(waiting, projectId, work))

const [TOKEN, ALL] = ['RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE']

test.each<[why: string, waits: Record<string, number>, want: readonly (string | undefined)[]]>([
  ['nothing', {}, [undefined, undefined, undefined]],
  ['less than half of the limit', { a: 499 }, [undefined, undefined, undefined]],
  ['half of the limit', { a: 500 }, [undefined, undefined, TOKEN]],
  ['more than half', { a: 749 }, [undefined, undefined, TOKEN]],
  ['one and a half times its limit', { a: 750 }, [undefined, TOKEN, TOKEN]],
  ['very much', { a: 1e9 }, [undefined, TOKEN, TOKEN]],
  ['half of it, of another project', { b: 500 }, [undefined, undefined, undefined]],
  ['all of it, of others', { b: 500, c: 500 }, [undefined, undefined, ALL]],
  ['one and a half times all, of others', { b: 1_500 }, [undefined, ALL, ALL]],
])('%s waits', (_why, waits, want) => {
  const { waiting } = start()
  for (const [project, work] of Object.entries(waits)) waiting.add(project, work, ARRIVAL)('stored')
  expect(refuseEach(waiting, 'a')).toEqual(want)
})

test.each<[why: string, inbox: (now: number) => Partial<InboxView>, isLoaded: boolean]>([
  ['nothing waits', (now) => ({ askedAt: now, oldestAt: Infinity }), true],
  ['only later rows wait', (now) => ({ askedAt: now, oldestAt: ARRIVAL.getTime() + 1 }), true],
  ['rows of the same moment wait', (now) => ({ askedAt: now, oldestAt: ARRIVAL.getTime() }), false],
  ['the loader has not looked since', () => ({ askedAt: 0, oldestAt: Infinity }), false],
])('%s', (_why, inbox, isLoaded) => {
  const { waiting, see } = start()
  waiting.add('a', MAX, ARRIVAL)('stored')
  see(inbox(performance.now() + 1))
  expect(refuse(waiting, 'a', LARGE)).toBe(isLoaded ? undefined : TOKEN)
})

test('work counts while it is being stored, and no more when that fails', () => {
  const { waiting, see } = start()
  const settle = waiting.add('a', MAX, ARRIVAL)
  see({ askedAt: performance.now() + 1, oldestAt: Infinity })
  const before = refuse(waiting, 'a', LARGE)
  settle('failed')
  expect([before, refuse(waiting, 'a', LARGE)]).toEqual([TOKEN, undefined])
})

test('the smallest requests are not counted', () => {
  const { waiting } = start()
  for (let n = 0; n < MAX; n++) waiting.add('a', SMALLEST, ARRIVAL)('stored')
  expect(refuseEach(waiting, 'a')).toEqual([undefined, undefined, undefined])
})

test('while the loader is away, nothing is refused', () => {
  const { waiting, see } = start()
  waiting.add('a', 10 * MAX, ARRIVAL)('stored')
  see({ isLate: true })
  const away = refuseEach(waiting, 'a')
  see({ isLate: false })
  expect([away, refuse(waiting, 'a', LARGE)]).toEqual([[undefined, undefined, undefined], TOKEN])
})
