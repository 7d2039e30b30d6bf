/** The supervisor restarts engines that end, here in an order that each test sets. */
import { expect, test } from '@jest/globals'
import {
  EngineError,
  type EngineProcess,
} from '../../../../src/clickhouse/embedded/engine-process.js'
import { supervise, type EngineEvent } from '../../../../src/clickhouse/embedded/supervisor.js'

const killed = new EngineError('ended: signal SIGKILL')
const dead = (pid: number): EngineProcess => ({ pid, ended: Promise.resolve(killed) })

/** Supervises an engine that ends at once. Each restart takes its outcome from `starts`; after the last one, supervision stops. */
async function watch(starts: readonly ('fails' | 'dies')[]) {
  const stop = new AbortController()
  const kinds: EngineEvent['kind'][] = []
  const pauses: number[] = []
  const left = [...starts]
  const outcome = await supervise(dead(1), {
    stop: stop.signal,
    onEvent: ({ kind }) => kinds.push(kind),
    computePause: (failures) => {
      pauses.push(failures)
      return 0
    },
    start: () => {
      const next = left.shift()
      if (left.length === 0) stop.abort()
      return next === 'dies' ? Promise.resolve(dead(2)) : Promise.reject(killed)
    },
  })
  return { outcome, kinds, pauses }
}

test('an engine that dies is started again at once', async () => {
  expect(await watch(['dies', 'dies'])).toEqual({
    outcome: undefined,
    kinds: ['died', 'restarted', 'died', 'restarted'],
    pauses: [],
  })
})

test('a failed start is repeated after a pause', async () => {
  expect(await watch(['fails', 'fails', 'dies'])).toEqual({
    outcome: undefined,
    kinds: ['died', 'restart failed', 'restart failed', 'restarted'],
    pauses: [1, 2],
  })
})

test('after ten failed starts in a row it gives up', async () => {
  const { outcome, kinds, pauses } = await watch(Array.from({ length: 20 }, () => 'fails' as const))
  expect(outcome).toBe(killed)
  expect(kinds.at(-1)).toBe('gave up')
  expect(pauses).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('failed starts before a successful one do not count', async () => {
  const nine = Array.from({ length: 9 }, () => 'fails' as const)
  const { outcome } = await watch([...nine, 'dies', ...nine, 'dies'])
  expect(outcome).toBeUndefined()
})
