/** Sessions from events that arrive in order, late, twice and in any batches. */
import { beforeAll, describe, expect, test } from '@jest/globals'
import type { StoredProject } from '../../../../src/projects/project.js'
import { withDatabase } from '../../../support/store/database.js'
import { expectConsistentFacts, listLeftovers, readFacts } from '../../../support/store/facts.js'
import { newProject, send, type SentEvent } from '../../../support/world/world.js'

const database = withDatabase()
const projects = new Map<Case, StoredProject>()

// The nth batches of all cases are loaded as one file; each case has its own project.
beforeAll(async () => {
  for (const one of CASES) projects.set(one, await newProject(database.store))
  for (let n = 0; CASES.some(({ batches }) => n < batches.length); n += 1) {
    const events = [...projects].flatMap(([{ batches }, { id }]) =>
      (batches[n] ?? []).map((event) => ({ ...event, project: id })),
    )
    await send(database.store, { id: '' }, events)
    expect(await listLeftovers(database.store)).toEqual([])
    for (const { id } of projects.values()) await expectConsistentFacts(database.store, id)
  }
})

/** An event `minutes` after ten o'clock, identified by its path. */
const at = (minutes: number, fields: Readonly<Record<string, unknown>> = {}): SentEvent => ({
  timestamp: new Date(Date.parse('2026-01-31T10:00:00Z') + minutes * 60_000).toISOString(),
  user_id: 'u',
  ...fields,
})

/** A session in short: start, end, pageviews, events, entry page, source, and the paths in order. */
type SessionSummary = readonly [string, string, number, number, string, string, string]

async function readSessions(project: StoredProject): Promise<SessionSummary[]> {
  await expectConsistentFacts(database.store, project.id)
  const clock = (time: unknown): string => String(time).slice(5).replace('.000', '')
  return (await readFacts(database.store, project.id)).map((fact) => [
    clock(fact.start_at),
    clock(fact['end_at']),
    Number(fact['pageviews']),
    Number(fact['events']),
    String(fact['entry_path']),
    String(fact['utm_source']),
    fact.items.map((item) => Object.values(item)[4]).join(' '),
  ])
}

interface Case {
  readonly rule: string
  readonly batches: readonly (readonly SentEvent[])[]
  readonly want: readonly SessionSummary[]
}

const page = (path: string, source = ''): Readonly<Record<string, unknown>> => ({
  path,
  ...(source === '' ? {} : { utm_source: source }),
})
const one = (path: string): Readonly<Record<string, unknown>> => ({
  ...page(path),
  event_id: 'one',
})

const visitor = (path: string): Readonly<Record<string, unknown>> => ({
  ...page(path),
  user_id: '',
  ip: '192.0.2.1',
})

const CASES: readonly Case[] = [
  {
    rule: 'a pause of exactly 30 minutes goes on',
    batches: [[at(0, page('/a')), at(30, page('/b'))]],
    want: [['01-31 10:00:00', '01-31 10:30:00', 2, 0, '/a', '', '/a /b']],
  },
  {
    rule: 'a millisecond more begins another',
    batches: [[at(0, page('/a')), at(30 + 1 / 60_000, page('/b'))]],
    want: [
      ['01-31 10:00:00', '01-31 10:00:00', 1, 0, '/a', '', '/a'],
      ['01-31 10:30:00.001', '01-31 10:30:00.001', 1, 0, '/b', '', '/b'],
    ],
  },
  {
    rule: 'a visit of a user without an id goes on after midnight',
    batches: [[at(838, visitor('/a')), at(842, visitor('/b'))]],
    want: [['01-31 23:58:00', '02-01 00:02:00', 2, 0, '/a', '', '/a /b']],
  },
  {
    rule: 'the same in two batches: after midnight',
    batches: [[at(838, visitor('/a'))], [at(842, visitor('/b'))]],
    want: [['01-31 23:58:00', '02-01 00:02:00', 2, 0, '/a', '', '/a /b']],
  },
  {
    rule: 'the same in two batches: 30 minutes',
    batches: [[at(0, page('/a'))], [at(30, page('/b'))]],
    want: [['01-31 10:00:00', '01-31 10:30:00', 2, 0, '/a', '', '/a /b']],
  },
  {
    rule: 'the same in two batches: a millisecond more',
    batches: [[at(0, page('/a'))], [at(30 + 1 / 60_000, page('/b'))]],
    want: [
      ['01-31 10:00:00', '01-31 10:00:00', 1, 0, '/a', '', '/a'],
      ['01-31 10:30:00.001', '01-31 10:30:00.001', 1, 0, '/b', '', '/b'],
    ],
  },
  {
    rule: 'midnight, and a month end, cut nothing',
    batches: [[at(830, page('/a'))], [at(845, page('/b'))]],
    want: [['01-31 23:50:00', '02-01 00:05:00', 2, 0, '/a', '', '/a /b']],
  },
  {
    rule: 'a session given by id goes on over days and batches, whatever lies between',
    batches: [
      [at(0, { ...page('/a'), session_id: 's' }), at(1, page('/x'))],
      [at(3_000, { ...page('/b'), session_id: 's' })],
      [at(-3_000, { ...page('/c', 'mail'), session_id: 's' })],
    ],
    want: [
      ['01-29 08:00:00', '02-02 12:00:00', 3, 0, '/c', 'mail', '/c /a /b'],
      ['01-31 10:01:00', '01-31 10:01:00', 1, 0, '/x', '', '/x'],
    ],
  },
  {
    rule: 'a session id of two users is two sessions',
    batches: [
      [at(0, { ...page('/a'), session_id: 's' })],
      [at(1, { ...page('/b'), session_id: 's', user_id: 'v' })],
    ],
    want: [
      ['01-31 10:00:00', '01-31 10:00:00', 1, 0, '/a', '', '/a'],
      ['01-31 10:01:00', '01-31 10:01:00', 1, 0, '/b', '', '/b'],
    ],
  },
  {
    rule: 'a late event before the start gives all events its attributes, and the entry page',
    batches: [[at(0, page('/a', 'mail')), at(5, page('/b'))], [at(-10, page('/late', 'search'))]],
    want: [['01-31 09:50:00', '01-31 10:05:00', 3, 0, '/late', 'search', '/late /a /b']],
  },
  {
    rule: 'a late custom event before the start gives attributes, not the entry page',
    batches: [[at(0, page('/a', 'mail'))], [at(-10, { ...page('/late'), name: 'signup' })]],
    want: [['01-31 09:50:00', '01-31 10:00:00', 1, 1, '/a', '', '/late /a']],
  },
  {
    rule: 'a late event in the gap joins two sessions',
    batches: [[at(0, page('/a', 'mail')), at(50, page('/b', 'ads'))], [at(25, page('/late', 'x'))]],
    want: [['01-31 10:00:00', '01-31 10:50:00', 3, 0, '/a', 'mail', '/a /late /b']],
  },
  {
    rule: 'one load joins three sessions and begins them earlier',
    batches: [
      [at(0, page('/a')), at(40, page('/b')), at(80, page('/c'))],
      [at(60, page('/3')), at(-20, page('/1', 'mail')), at(20, page('/2'))],
    ],
    want: [['01-31 09:40:00', '01-31 11:20:00', 6, 0, '/1', 'mail', '/1 /a /2 /b /3 /c']],
  },
  {
    rule: 'a late event within a session changes its counts alone',
    batches: [[at(0, page('/a', 'mail')), at(20, page('/b'))], [at(10, page('/late', 'x'))]],
    want: [['01-31 10:00:00', '01-31 10:20:00', 3, 0, '/a', 'mail', '/a /late /b']],
  },
  {
    rule: 'a late event more than 30 minutes from all makes its own',
    batches: [[at(0, page('/a')), at(100, page('/b'))], [at(50, page('/late'))]],
    want: [
      ['01-31 10:00:00', '01-31 10:00:00', 1, 0, '/a', '', '/a'],
      ['01-31 10:50:00', '01-31 10:50:00', 1, 0, '/late', '', '/late'],
      ['01-31 11:40:00', '01-31 11:40:00', 1, 0, '/b', '', '/b'],
    ],
  },
  {
    rule: 'at one moment the first to arrive is the first, in one batch',
    batches: [[at(0, page('/z', 'mail')), at(0, page('/a', 'ads'))]],
    want: [['01-31 10:00:00', '01-31 10:00:00', 2, 0, '/z', 'mail', '/a /z']],
  },
  {
    rule: 'at one moment the first to arrive is the first, over batches',
    batches: [[at(0, page('/z', 'mail'))], [at(0, page('/a', 'ads'))]],
    want: [['01-31 10:00:00', '01-31 10:00:00', 2, 0, '/z', 'mail', '/a /z']],
  },
  {
    rule: 'an event id counts once in a batch: the first to arrive',
    batches: [[at(0, one('/a')), at(-5, one('/b'))]],
    want: [['01-31 10:00:00', '01-31 10:00:00', 1, 0, '/a', '', '/a']],
  },
  {
    rule: 'an event id counts once over batches, days and users',
    batches: [[at(0, one('/a'))], [at(3_000, one('/b'))], [at(1, { ...one('/c'), user_id: 'v' })]],
    want: [['01-31 10:00:00', '01-31 10:00:00', 1, 0, '/a', '', '/a']],
  },
  {
    rule: 'a session goes on through many batches, and over a late start in the midst',
    batches: [0, 20, 40, -15, 60].map((minutes) => [at(minutes, page(`/${minutes}`))]),
    want: [['01-31 09:45:00', '01-31 11:00:00', 5, 0, '/-15', '', '/-15 /0 /20 /40 /60']],
  },
  {
    rule: 'a session of custom events alone is no visit, until a late pageview enters it',
    batches: [
      [at(0, { ...page('/a'), name: 'signup' }), at(2, { ...page('/b'), name: 'signup' })],
      [at(1, page('/late'))],
    ],
    want: [['01-31 10:00:00', '01-31 10:02:00', 1, 2, '/late', '', '/a /late /b']],
  },
]

describe('sessions', () => {
  test.each(CASES)('$rule', async (one) => {
    expect(await readSessions(projects.get(one)!)).toEqual(one.want)
  })

  test('sessions of other projects are not changed', async () => {
    const [ours, theirs] = [await newProject(database.store), await newProject(database.store)]
    await send(database.store, ours, [at(0, { ...page('/a'), session_id: 's' })])
    await send(database.store, theirs, [at(5, { ...page('/b'), session_id: 's' })])
    await send(database.store, theirs, [at(-5, { ...page('/c'), session_id: 's' })])
    expect(await readSessions(ours)).toEqual([
      ['01-31 10:00:00', '01-31 10:00:00', 1, 0, '/a', '', '/a'],
    ])
    expect(await readSessions(theirs)).toEqual([
      ['01-31 09:55:00', '01-31 10:05:00', 2, 0, '/c', '', '/c /b'],
    ])
  })
})
