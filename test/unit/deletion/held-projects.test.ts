/** Why projects keep data longer than they should is logged once until the reason ends, and counted each time. */
import { expect, test } from '@jest/globals'
import { createHoldReporter, type HeldProject } from '../../../src/deletion/held-projects.js'
import { createLogger } from '../../../src/lib/log.js'
import { addDays } from '../../../src/lib/time.js'

const NOW = new Date('2026-06-15T12:00:00Z')
const AGREEING = { host: NOW, store: NOW }
const APART = { host: addDays(NOW, 400), store: NOW }
const hold = (projectId: string, reason: 'pace' | 'newest_event'): HeldProject => ({
  projectId,
  hold: reason,
  keepDays: 30,
  keptFrom: new Date('2026-05-01'),
  due: new Date('2026-05-16'),
})
const byClocks = (projectId: string): HeldProject => ({ projectId, hold: 'clocks' })

const ADVICE = (id: string): string =>
  `if the clock is right, "tallyhouse project update ${id} --keep-days 30 --force" deletes it now`
const PACE = `the project keeps data longer than 30 days, because the first kept day moves by two days a day at most; ${ADVICE('a')}`
const NEWEST = `the project keeps data longer than 30 days, because no later event has arrived; ${ADVICE('b')}`
const CLOCKS =
  'the clocks of this host and the store differ by more than a minute, so no data is deleted that projects keep no longer: synchronize them, with NTP for instance'

test('a reason is logged once until it ends', () => {
  const lines: string[] = []
  const report = createHoldReporter(
    createLogger('info', { write: (line) => void lines.push(line) }),
  )
  const logAndCount = (held: readonly HeldProject[], clocks = AGREEING): object => {
    const counts = report(held, clocks)
    const logged = lines.splice(0).map((line) => JSON.parse(line) as object)
    return { ...counts, logged }
  }
  const days = { keptFrom: '2026-05-01', due: '2026-05-16' }
  const time = expect.any(String)
  const pace = { time, level: 'warn', projectId: 'a', reason: 'pace', ...days, msg: PACE }
  const newest = {
    time,
    level: 'warn',
    projectId: 'b',
    reason: 'newest_event',
    ...days,
    msg: NEWEST,
  }
  const clocks = { time, level: 'error', projects: 2, difference: '9600 h', msg: CLOCKS }
  const none = { clocks: 0, pace: 0, newest_event: 0 }

  expect(logAndCount([])).toEqual({ ...none, logged: [] })
  expect(logAndCount([hold('a', 'pace')])).toEqual({ ...none, pace: 1, logged: [pace] })
  const both = [hold('a', 'pace'), hold('b', 'newest_event')]
  expect(logAndCount(both)).toEqual({ ...none, pace: 1, newest_event: 1, logged: [newest] })
  expect(logAndCount(both)).toEqual({ ...none, pace: 1, newest_event: 1, logged: [] })
  const apart = [byClocks('a'), byClocks('b')]
  expect(logAndCount(apart, APART)).toEqual({ ...none, clocks: 2, logged: [clocks] })
  expect(logAndCount(apart, APART)).toEqual({ ...none, clocks: 2, logged: [] })
  expect(logAndCount([])).toEqual({ ...none, logged: [] })
  expect(logAndCount([hold('a', 'pace')])).toEqual({ ...none, pace: 1, logged: [pace] })
})
