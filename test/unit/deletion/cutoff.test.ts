/** The first day that a project keeps: no clock moves it far at once, and it does not pass the events. */
import { expect, test } from '@jest/globals'
import { decideCutoff, updateRecord, type CutoffFacts } from '../../../src/deletion/cutoff.js'
import { addDays, addMs, DAY_MS, HOUR_MS } from '../../../src/lib/time.js'

const NOW = new Date('2026-06-15T00:30:00Z')
const KEEP_DAYS = 30
const day = (text: string): Date => new Date(`${text}T00:00:00Z`)
/** As recorded a day ago. */
const LAST = { keptFrom: day('2026-05-15'), keepDays: KEEP_DAYS, recordedAt: addDays(NOW, -1) }
const FACTS: CutoffFacts = { now: NOW, keepDays: KEEP_DAYS, newest: NOW, last: LAST }
const DUE = day('2026-05-16')

test.each<[what: string, facts: Partial<CutoffFacts>, keptFrom: string, hold: string | undefined]>([
  ['a day after the last one', {}, '2026-05-16', undefined],
  ['the first', { last: undefined }, '2026-05-16', undefined],
  ['the first of few days', { last: undefined, keepDays: 1 }, '2026-06-14', undefined],
  [
    'the first, without events for a year',
    { last: undefined, newest: day('2025-06-15') },
    '2025-05-16',
    'newest_event',
  ],
  ['before the first event of a day', { newest: day('2026-06-14') }, '2026-05-15', undefined],
  ['without events for two days', { newest: day('2026-06-13') }, '2026-05-14', 'newest_event'],
  [
    'twice on a day',
    { last: { ...LAST, keptFrom: DUE, recordedAt: addMs(NOW, -HOUR_MS) } },
    '2026-05-16',
    undefined,
  ],
  [
    'after half a day',
    { last: { ...LAST, recordedAt: addMs(NOW, -12 * HOUR_MS) } },
    '2026-05-16',
    undefined,
  ],
  [
    'after an hour',
    { last: { ...LAST, keptFrom: day('2026-05-10'), recordedAt: addMs(NOW, -HOUR_MS) } },
    '2026-05-10',
    'pace',
  ],
  [
    'after three days',
    { last: { ...LAST, keptFrom: day('2026-05-13'), recordedAt: addDays(NOW, -3) } },
    '2026-05-15',
    undefined,
  ],
  [
    'after ten days',
    { last: { ...LAST, keptFrom: day('2026-05-06'), recordedAt: addDays(NOW, -10) } },
    '2026-05-08',
    'pace',
  ],
  ['with fewer days', { keepDays: 10 }, '2026-05-17', 'pace'],
  ['with more days', { keepDays: 100 }, '2026-03-07', undefined],
  ['by a clock that went back', { now: addDays(NOW, -50) }, '2026-03-27', undefined],
  [
    'by a clock that was ahead when it was recorded',
    { last: { ...LAST, recordedAt: addDays(NOW, 400) } },
    '2026-05-15',
    undefined,
  ],
])('an expiration %s', (_what, facts, keptFrom, hold) => {
  const given = { ...FACTS, ...facts }
  const cutoff = decideCutoff(given)
  expect({ keptFrom: cutoff.keptFrom, hold: cutoff.hold }).toEqual({
    keptFrom: day(keptFrom),
    hold,
  })
})

test.each<[what: string, facts: Partial<CutoffFacts>, recorded: object | undefined]>([
  ['the first', { last: undefined }, { keptFrom: DUE, keepDays: KEEP_DAYS, recordedAt: NOW }],
  ['a later day', {}, { keptFrom: DUE, keepDays: KEEP_DAYS, recordedAt: NOW }],
  ['the same day', { last: { ...LAST, keptFrom: DUE } }, undefined],
  ['an earlier day', { now: addDays(NOW, -0.5), newest: day('2026-01-01') }, undefined],
  [
    'the same day, recorded by a clock that was ahead',
    { last: { ...LAST, keptFrom: DUE, recordedAt: addDays(NOW, 400) } },
    { keptFrom: DUE, keepDays: KEEP_DAYS, recordedAt: NOW },
  ],
  [
    'with more days',
    { keepDays: 100, newest: day('2026-01-01') },
    { keptFrom: day('2026-03-06'), keepDays: 100, recordedAt: NOW },
  ],
])('what is recorded of %s', (_what, facts, recorded) => {
  const given = { ...FACTS, ...facts }
  expect(updateRecord(given, decideCutoff(given))).toEqual(recorded)
})

test.each([1, 7, 400, 100_000])(
  'a clock that jumps %i days ahead, with events by it, costs two days a day',
  (jump) => {
    let last = LAST
    // An hourly look for two days.
    for (let hour = 0; hour < 48; hour++) {
      const now = addDays(addMs(NOW, hour * HOUR_MS), jump)
      const facts = { now, keepDays: KEEP_DAYS, newest: now, last }
      last = updateRecord(facts, decideCutoff(facts)) ?? last
    }
    const moved = (last.keptFrom.getTime() - LAST.keptFrom.getTime()) / DAY_MS
    expect(moved).toBeLessThanOrEqual(2 + 2 * 2)
  },
)
