/** What is remembered of names, for how long, and who waits for whom. */
import { beforeEach, describe, expect, test } from '@jest/globals'
import { createLookups, type LookupOptions, type Lookups } from '../../../src/lib/lookups.js'
import { withResolvers, type Deferred } from '../../../src/lib/settle.js'

interface Asked extends Deferred<string | undefined> {
  readonly name: string
  readonly begunAt: number
}

/** The time, and what the store was asked, in order: each question waits for its answer. */
let now: number
let asked: Asked[]
beforeEach(() => {
  now = 0
  asked = []
})

const create = (options: Partial<LookupOptions<'strange'>> = {}): Lookups<string> =>
  createLookups({ now: () => now, maxFound: 10, maxMissing: 10, ...options })

const find = (lookups: Lookups<string>, name: string): Promise<string | undefined> =>
  lookups.find(name, (begunAt) => {
    const question = { name, begunAt, ...withResolvers<string | undefined>() }
    asked.push(question)
    return question.promise
  })

/** Lets everything happen that waits for nothing from outside. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Returns what is found when the store answers each question at once; an Error is the answer of a store that fails. */
async function findAnswered(
  lookups: Lookups<string>,
  name: string,
  answer: string | undefined | Error,
): Promise<unknown> {
  const before = asked.length
  const found = find(lookups, name).catch((error: unknown) => error)
  await settle()
  for (const { resolve, reject } of asked.slice(before)) {
    if (answer instanceof Error) reject(answer)
    else resolve(answer)
  }
  const outcome = await found
  await settle()
  return outcome
}

const DOWN = new Error('down')

describe.each([
  ['a value', 'v'],
  ['that there is none', undefined],
])('%s', (_what, value) => {
  test('is used for less than 4 s from the start of its lookup', async () => {
    const lookups = create()
    const first = find(lookups, 'a')
    now = 3_999
    asked[0]?.resolve(value)
    expect(await first).toBe(value)
    expect(await find(lookups, 'a')).toBe(value)
    now = 4_000
    expect(await findAnswered(lookups, 'a', 'next')).toBe('next')
    expect(asked.map(({ begunAt }) => begunAt)).toEqual([0, 4_000])
  })

  test('is given to all who wait for one lookup, however long it takes', async () => {
    const lookups = create()
    const first = find(lookups, 'a')
    now = 10_000
    const second = find(lookups, 'a')
    asked[0]?.resolve(value)
    expect(await Promise.all([first, second])).toEqual([value, value])
    expect(asked).toHaveLength(1)
    expect(await findAnswered(lookups, 'a', 'next')).toBe('next')
  })

  test('gives way to another answer', async () => {
    const lookups = create()
    const other = value === undefined ? 'v' : undefined
    await findAnswered(lookups, 'a', value)
    now = 4_000
    expect(await findAnswered(lookups, 'a', other)).toBe(other)
    expect(await find(lookups, 'a')).toBe(other)
    expect(lookups.recall('a')).toBe(other)
    expect(asked).toHaveLength(2)
  })
})

test('other names are looked up on their own', async () => {
  const lookups = create()
  const both = Promise.all([find(lookups, 'a'), find(lookups, 'b')])
  for (const { name, resolve } of asked) resolve(name)
  expect(await both).toEqual(['a', 'b'])
})

test('with maxMissing 0, a name without a value is looked up each time', async () => {
  const lookups = create({ maxMissing: 0 })
  expect(await findAnswered(lookups, 'a', undefined)).toBeUndefined()
  expect(await findAnswered(lookups, 'a', 'v')).toBe('v')
})

test('a failure rejects all who wait for it, and is not remembered', async () => {
  const lookups = create()
  const waiting = Promise.allSettled([find(lookups, 'a'), find(lookups, 'a')])
  asked[0]?.reject(DOWN)
  expect(await waiting).toEqual(Array(2).fill({ status: 'rejected', reason: DOWN }))
  expect(await findAnswered(lookups, 'a', 'v')).toBe('v')
})

describe('a value that is no longer fresh', () => {
  test('is not used while the store fails, but recalled', async () => {
    const lookups = create()
    await findAnswered(lookups, 'a', 'v')
    now = 4_000
    expect(await findAnswered(lookups, 'a', DOWN)).toBe(DOWN)
    expect(lookups.recall('a')).toBe('v')
  })

  describe('with staleMs', () => {
    test.each([
      { at: 59_999, answer: DOWN, found: 'v', later: 'v' },
      { at: 60_000, answer: DOWN, found: DOWN, later: DOWN },
      { at: 59_999, answer: 'w', found: 'v', later: 'w' },
      { at: 59_999, answer: undefined, found: 'v', later: undefined },
      { at: 60_000, answer: undefined, found: undefined, later: undefined },
    ])('at $at ms, when the store answers $answer', async ({ at, answer, found, later }) => {
      const lookups = create({ staleMs: 60_000 })
      await findAnswered(lookups, 'a', 'v')
      now = at
      expect(await findAnswered(lookups, 'a', answer)).toBe(found)
      expect(await findAnswered(lookups, 'a', DOWN)).toBe(later)
    })

    test('is used while one lookup runs', async () => {
      const lookups = create({ staleMs: 60_000 })
      await findAnswered(lookups, 'a', 'v')
      now = 4_000
      expect([await find(lookups, 'a'), await find(lookups, 'a')]).toEqual(['v', 'v'])
      expect(asked).toHaveLength(2)
    })
  })
})

describe('limits', () => {
  test('the name that was not asked for longest is forgotten, and names without a value evict none with one', async () => {
    const lookups = create({ maxFound: 2, maxMissing: 1 })
    for (const name of ['a', 'b', 'c']) await findAnswered(lookups, name, name)
    for (const name of ['x', 'y', 'z']) await findAnswered(lookups, name, undefined)
    const names = ['a', 'b', 'c']
    expect(names.map(lookups.recall)).toEqual([undefined, 'b', 'c'])
    const before = asked.length
    for (const name of ['b', 'c', 'z']) await find(lookups, name)
    expect(asked).toHaveLength(before)
    await findAnswered(lookups, 'x', undefined)
    expect(asked).toHaveLength(before + 1)
  })

  const LANES = {
    places: { known: 1, strange: 2 },
    choose: () => 'strange' as const,
    maxWaiting: 1,
    refuse: () => new Error('busy'),
  }
  const listNames = () => asked.map(({ name }) => name)

  test('of unknown names, few are looked up at once, one by one as places get free, and the rest is refused', async () => {
    const lookups = create({ lanes: LANES })
    const found = ['a', 'b', 'c'].map((name) => find(lookups, name))
    await expect(find(lookups, 'd')).rejects.toThrow('busy')
    expect(listNames()).toEqual(['a', 'b'])
    asked[0]?.reject(DOWN)
    await expect(found[0]).rejects.toBe(DOWN)
    await settle()
    expect(listNames()).toEqual(['a', 'b', 'c'])
    for (const { name, resolve } of asked) resolve(name)
    expect(await Promise.all(found.slice(1))).toEqual(['b', 'c'])
    expect(await findAnswered(lookups, 'd', 'd')).toBe('d')
  })

  test('known names do not wait for unknown ones', async () => {
    const lookups = create({ lanes: LANES })
    await findAnswered(lookups, 'a', 'v')
    now = 4_000
    const strangers = ['x', 'y', 'z'].map((name) => find(lookups, name))
    expect(await findAnswered(lookups, 'a', 'w')).toBe('w')
    for (const { resolve } of asked) resolve(undefined)
    await settle()
    asked.at(-1)?.resolve(undefined)
    expect(await Promise.all(strangers)).toEqual([undefined, undefined, undefined])
  })

  test.each([
    [4_000, 'v'],
    [4_001, new Error('busy')],
  ])('after %d ms, a lookup that waits for a place ends in %s', async (waitedMs, outcome) => {
    const lookups = create({ lanes: LANES })
    const found = ['a', 'b', 'c'].map((name) =>
      find(lookups, name).catch((error: unknown) => error),
    )
    now = waitedMs
    asked[0]?.resolve('v')
    await settle()
    asked[2]?.resolve('v')
    expect(await found[2]).toEqual(outcome)
  })
})
