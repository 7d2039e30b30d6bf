/** Work that equal questions share. */
import { expect, test } from '@jest/globals'
import { createSharedWork } from '../../../../src/analytics/cache/share-work.js'

/** Work that ends when it is told to. */
function createWork() {
  const signals: AbortSignal[] = []
  const ends: { resolve: (value: string) => void; reject: (error: Error) => void }[] = []
  return {
    signals,
    ends,
    work: (signal: AbortSignal) =>
      new Promise<string>((resolve, reject) => {
        signals.push(signal)
        signal.addEventListener('abort', () => reject(signal.reason as Error))
        ends.push({ resolve, reject })
      }),
  }
}

const NEVER = new AbortController().signal

test('callers with the same name share the result, and later ones start again', async () => {
  const { share } = createSharedWork<string>()
  const { work, ends } = createWork()
  const asked = ['a', 'a', 'b'].map((name) => share(name, NEVER, work))
  ends[0]!.resolve('A')
  ends[1]!.resolve('B')
  expect(await Promise.all(asked)).toEqual([
    { result: 'A', hasJoined: false },
    { result: 'A', hasJoined: true },
    { result: 'B', hasJoined: false },
  ])
  const again = share('a', NEVER, work)
  ends[2]!.resolve('A2')
  expect(await again).toEqual({ result: 'A2', hasJoined: false })
})

test('all callers get the error, which is not kept', async () => {
  const { share } = createSharedWork<string>()
  const { work, ends } = createWork()
  const asked = [share('a', NEVER, work), share('a', NEVER, work)]
  ends[0]!.reject(new Error('away'))
  expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
  ])
  const again = share('a', NEVER, work)
  ends[1]!.resolve('A')
  expect(await again).toEqual({ result: 'A', hasJoined: false })
})

test('a caller that leaves ends only its own wait; the last one ends the work', async () => {
  const { share } = createSharedWork<string>()
  const { work, signals } = createWork()
  const [first, second] = [new AbortController(), new AbortController()]
  const asked = [share('a', first.signal, work), share('a', second.signal, work)]
  first.abort(new Error('gone'))
  await expect(asked[0]).rejects.toMatchObject({
    code: 'QUERY_TIMEOUT',
    cause: first.signal.reason as unknown,
  })
  expect(signals[0]!.aborted).toBe(false)
  second.abort(new Error('gone, too'))
  await expect(asked[1]).rejects.toThrow('gone, too')
  expect(signals[0]!.aborted).toBe(true)
  void share('a', NEVER, work)
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
})

test('a caller that has left before it asks starts nothing that goes on', async () => {
  const { share } = createSharedWork<string>()
  const { work, signals } = createWork()
  await expect(share('a', AbortSignal.abort(new Error('gone')), work)).rejects.toThrow('gone')
  expect(signals.map(({ aborted }) => aborted)).toEqual([true])
})

test('work that a hundred wait for is not joined', async () => {
  const { share } = createSharedWork<string>()
  const { work, signals, ends } = createWork()
  const asked = Array.from({ length: 101 }, () => share('a', new AbortController().signal, work))
  expect(signals).toHaveLength(2)
  ends[0]!.resolve('A')
  ends[1]!.resolve('A2')
  expect(await asked[99]).toEqual({ result: 'A', hasJoined: true })
  expect(await asked[100]).toEqual({ result: 'A2', hasJoined: false })
})
