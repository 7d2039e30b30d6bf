/** The pace of readers: what counts as slow, by a clock that the test sets. */
import { expect, test } from '@jest/globals'
import { createReaderPace } from '../../../../src/http/formats/reader-pace.js'

const LIMITS = { bytesPerSecond: 1_000, patienceMs: 10_000 }

/** A stream of chunks of equal size, and its reader, who is slow by the clock. */
function createTestReader(...sizes: readonly number[]) {
  const clock = { ms: 0 }
  const pace = createReaderPace(LIMITS, () => clock.ms)
  async function* write() {
    for (const size of sizes) yield await Promise.resolve(new Uint8Array(size))
  }
  const pieces = pace.measure(write())
  /** Takes the next piece after some time; returns its bytes. */
  const take = async (afterMs: number): Promise<number> => {
    clock.ms += afterMs
    return ((await pieces.next()).value as Uint8Array | undefined)?.length ?? 0
  }
  return { clock, pace, take }
}

test('a reader that takes nothing is slow when its patience is used up', async () => {
  const { clock, pace, take } = createTestReader(100)
  await take(0)
  clock.ms = 9_999
  expect(pace.isSlow()).toBe(false)
  clock.ms = 10_000
  expect(pace.isSlow()).toBe(true)
})

test('the time before there is something to take does not count', () => {
  const { clock, pace } = createTestReader(100)
  clock.ms = 1_000_000
  expect(pace.isSlow()).toBe(false)
})

test.each([
  { what: 'as fast as it has to be', ms: 1_000, isSlow: false },
  { what: 'a little slower', ms: 1_500, isSlow: true },
])('a reader that goes on, $what', async ({ ms, isSlow }) => {
  const { clock, pace, take } = createTestReader(...Array<number>(30).fill(1_000))
  await take(0)
  for (let i = 0; i < 25; i += 1) await take(ms)
  clock.ms += ms
  expect(pace.isSlow()).toBe(isSlow)
})

test('a reader that was slow and goes on is not slow any more', async () => {
  const { clock, pace, take } = createTestReader(2_000, 2_000)
  await take(0)
  await take(60_000)
  expect(pace.isSlow()).toBe(false)
  clock.ms += 2_000
  expect(pace.isSlow()).toBe(true)
})

test('large chunks are passed on in pieces; the bytes stay the same', async () => {
  const { take } = createTestReader(150_000, 0, 1)
  const sizes = [await take(0), await take(0), await take(0), await take(0), await take(0)]
  expect(sizes).toEqual([65_536, 65_536, 18_928, 1, 0])
})

test('the end of a stream says why', () => {
  const { pace } = createTestReader()
  expect(pace.signal.aborted).toBe(false)
  pace.end()
  expect(pace.signal.reason).toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    message: 'The client took fewer than 1 kB a second while another request waited.',
  })
})
