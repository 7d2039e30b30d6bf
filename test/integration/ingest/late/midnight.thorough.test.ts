/** Visits over midnight of users without an id: they stay one visit of one user, in whatever batches their events come. */
import { beforeAll, describe, expect, test } from '@jest/globals'
import { sql, statement, string } from '../../../../src/clickhouse/sql.js'
import type { StoredProject } from '../../../../src/projects/project.js'
import { withDatabase } from '../../../support/store/database.js'
import {
  expectConsistentFacts,
  listLeftovers,
  readFacts,
  select,
} from '../../../support/store/facts.js'
import { checkRollups, deleteUser } from '../../../support/store/loading.js'
import { newProject, runQuery, send, type SentEvent } from '../../../support/world/world.js'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'

/** A pageview without a user id: `31 23:58` is a day of January or, from 40 on, of February: 41 is the 1st. */
function at(moment: string, fields: object = {}): SentEvent {
  const [day, time] = moment.split(' ')
  const date = Number(day) > 40 ? `02-0${Number(day) - 40}` : `01-${day}`
  const seconds = time!.length === 5 ? ':00' : ''
  return {
    timestamp: `2026-${date}T${time}${seconds}Z`,
    ip: '192.0.2.1',
    user_agent: FIREFOX,
    ...fields,
  }
}

const every = (minutes: number, from: string, to: string, fields: object = {}): SentEvent[] => {
  const [start, end] = [from, to].map((moment) => Date.parse(at(moment).timestamp))
  const events: SentEvent[] = []
  for (let time = start!; time <= end!; time += minutes * 60_000)
    events.push({ ...at(from, fields), timestamp: new Date(time).toISOString() })
  return events
}

interface Case {
  readonly rule: string
  readonly batches: readonly (readonly SentEvent[])[]
  /** The visits of each user, in the order of their first visits: from, to, pageviews. */
  readonly want: readonly (readonly string[])[]
}

const split = (rule: string, events: readonly SentEvent[], want: Case['want']): readonly Case[] => [
  { rule: `${rule}, in one batch`, batches: [events], want },
  { rule: `${rule}, in a batch each`, batches: events.map((event) => [event]), want },
]

const CASES: readonly Case[] = [
  ...split(
    'a visit goes on after midnight',
    [at('31 23:58'), at('41 00:02')],
    [['01-31 23:58:00 02-01 00:02:00 2']],
  ),
  ...split(
    'midnight itself belongs to the new day',
    [at('31 23:59:59.999'), at('41 00:00:00.000'), at('41 00:20')],
    [['01-31 23:59:59.999 02-01 00:20:00 3']],
  ),
  ...split(
    'an event at midnight without one before it begins the day',
    [at('41 00:00:00.000'), at('41 00:20')],
    [['02-01 00:00:00 02-01 00:20:00 2']],
  ),
  ...split(
    'a pause of exactly 30 minutes goes on',
    [at('31 23:45'), at('41 00:15')],
    [['01-31 23:45:00 02-01 00:15:00 2']],
  ),
  ...split(
    'a millisecond more begins the visit of another user',
    [at('31 23:30:00.000'), at('41 00:00:00.001')],
    [['01-31 23:30:00 01-31 23:30:00 1'], ['02-01 00:00:00.001 02-01 00:00:00.001 1']],
  ),
  ...split(
    'the user ends with the visit',
    [at('31 23:50'), at('41 00:10'), at('41 00:41'), at('41 00:45'), at('41 12:00')],
    [
      ['01-31 23:50:00 02-01 00:10:00 2'],
      ['02-01 00:41:00 02-01 00:45:00 2', '02-01 12:00:00 02-01 12:00:00 1'],
    ],
  ),
  ...split(
    'earlier visits of the day before are of the same user',
    [at('31 10:00'), at('31 23:50'), at('41 00:10')],
    [['01-31 10:00:00 01-31 10:00:00 1', '01-31 23:50:00 02-01 00:10:00 2']],
  ),
  ...split(
    'other addresses and agents are other users',
    [
      at('31 23:58'),
      at('31 23:59', { ip: '192.0.2.2' }),
      at('41 00:01', { user_agent: '' }),
      at('41 00:02', { ip: '192.0.2.3' }),
      at('41 00:03', { ip: '192.0.2.2' }),
    ],
    [
      ['01-31 23:58:00 01-31 23:58:00 1'],
      ['01-31 23:59:00 02-01 00:03:00 2'],
      ['02-01 00:01:00 02-01 00:01:00 1'],
      ['02-01 00:02:00 02-01 00:02:00 1'],
    ],
  ),
  ...split(
    'named users are not asked',
    [at('31 23:58'), at('41 00:01', { user_id: 'u' }), at('41 00:40')],
    [
      ['01-31 23:58:00 01-31 23:58:00 1'],
      ['02-01 00:01:00 02-01 00:01:00 1'],
      ['02-01 00:40:00 02-01 00:40:00 1'],
    ],
  ),
  ...split(
    'a repeated event is none',
    [at('31 23:40', { event_id: 'a' }), at('31 23:59', { event_id: 'a' }), at('41 00:20')],
    [['01-31 23:40:00 01-31 23:40:00 1'], ['02-01 00:20:00 02-01 00:20:00 1']],
  ),
  ...split(
    'an excluded event is none',
    [at('31 23:40'), at('31 23:59', { country: 'KP' }), at('41 00:20')],
    [['01-31 23:40:00 01-31 23:40:00 1'], ['02-01 00:20:00 02-01 00:20:00 1']],
  ),
  ...split(
    'a session with an id goes on after midnight, however long the pause',
    [
      at('31 20:00', { session_id: 's' }),
      at('31 23:59'),
      at('41 00:10', { session_id: 't' }),
      at('41 09:00', { session_id: 's' }),
    ],
    [
      ['01-31 20:00:00 02-01 09:00:00 2', '01-31 23:59:00 01-31 23:59:00 1'],
      ['02-01 00:10:00 02-01 00:10:00 1'],
    ],
  ),
  ...split(
    'a session with an id ends with a day that has none of its events',
    [at('31 20:00', { session_id: 's' }), at('42 09:00', { session_id: 's' })],
    [['01-31 20:00:00 01-31 20:00:00 1'], ['02-02 09:00:00 02-02 09:00:00 1']],
  ),
  {
    rule: 'a late event joins the visit that it falls into',
    batches: [
      [at('31 23:50'), at('41 00:10')],
      [at('41 00:05'), at('41 00:35')],
    ],
    want: [['01-31 23:50:00 02-01 00:35:00 4']],
  },
  {
    rule: 'a late event does not change the user of stored events',
    batches: [[at('41 00:10')], [at('31 23:50')]],
    want: [['01-31 23:50:00 01-31 23:50:00 1'], ['02-01 00:10:00 02-01 00:10:00 1']],
  },
  {
    rule: 'a visit goes on until the end of the next day, and is another one from then on',
    batches: [every(25, '31 23:50', '43 02:20')],
    want: [['01-31 23:50:00 02-01 23:35:00 58'], ['02-02 00:00:00 02-03 02:15:00 64']],
  },
  {
    rule: 'the same in several batches',
    batches: [
      every(25, '31 23:50', '41 00:40'),
      every(25, '41 01:05', '42 00:00'),
      every(25, '42 00:25', '43 00:10'),
      every(25, '43 00:35', '43 02:20'),
    ],
    want: [['01-31 23:50:00 02-01 23:35:00 58'], ['02-02 00:00:00 02-03 02:15:00 64']],
  },
]

const database = withDatabase()
const projects = new Map<Case, StoredProject>()
const RULES = { excludedCountries: ['KP'] }

// The nth batches of all cases are loaded as one file; each case has its own project.
beforeAll(async () => {
  for (const one of CASES) projects.set(one, await newProject(database.store, RULES))
  for (let n = 0; CASES.some(({ batches }) => n < batches.length); n += 1) {
    const events = [...projects].flatMap(([{ batches }, { id }]) =>
      (batches[n] ?? []).map((event) => ({ ...event, project: id })),
    )
    await send(database.store, { id: '' }, events)
    expect(await listLeftovers(database.store)).toEqual([])
  }
})

async function readVisits(project: StoredProject): Promise<readonly (readonly string[])[]> {
  await expectConsistentFacts(database.store, project.id)
  const clock = (time: unknown): string => String(time).slice(5).replace('.000', '')
  const byUser = new Map<string, string[]>()
  const facts = await readFacts(database.store, project.id)
  for (const fact of facts.toSorted((a, b) => (a.start_at < b.start_at ? -1 : 1))) {
    const visits = byUser.get(fact.user_id) ?? []
    visits.push(`${clock(fact.start_at)} ${clock(fact['end_at'])} ${String(fact['pageviews'])}`)
    byUser.set(fact.user_id, visits)
  }
  return [...byUser.values()]
}

describe('of a user without an id', () => {
  test.each(CASES.map((one) => [one.rule, one] as const))('%s', async (_rule, one) => {
    expect(await readVisits(projects.get(one)!)).toEqual(one.want)
  })
})

test('one user, one visit, and its whole duration', async () => {
  for (const one of CASES.slice(0, 2)) {
    expect(
      await runQuery(database.store, projects.get(one)!, {
        date_range: ['2026-01-31', '2026-02-01'],
        metrics: ['users', 'pageviews', 'bounce_rate', 'visit_duration'],
      }),
    ).toMatchObject({
      data: [{ metrics: { users: 1, pageviews: 2, bounce_rate: 0, visit_duration: 240 } }],
    })
  }
})

test('the rollups agree with the facts', async () => {
  expect(await checkRollups(database.store.writer, {})).toMatchObject({
    months: 2,
    different: 0,
    differences: [],
  })
})

test('a deleted user does not come back with the rest of the visit', async () => {
  const { store } = database
  const project = await newProject(store)
  await send(store, project, [at('31 23:58')])
  const [first] = await readFacts(store, project.id)
  await deleteUser(store, project.id, first!.user_id)
  await send(store, project, [at('41 00:02'), at('41 00:04')])
  expect(await readVisits(project)).toEqual([['02-01 00:02:00 02-01 00:04:00 2']])
  expect((await readFacts(store, project.id))[0]!.user_id).not.toBe(first!.user_id)
})

test('without the salt of yesterday, the visit ends at midnight', async () => {
  const { store } = database
  const project = await newProject(store)
  await send(store, project, [at('21 23:58')])
  await store.writer.execute(statement(sql`TRUNCATE TABLE salts`))
  await send(store, project, [at('22 00:02')])
  expect(await readVisits(project)).toEqual([
    ['01-21 23:58:00 01-21 23:58:00 1'],
    ['01-22 00:02:00 01-22 00:02:00 1'],
  ])
  expect(await select(store, sql`SELECT toString(day) AS day FROM salts`)).toEqual([
    { day: '2026-01-22' },
  ])
})

test('a salt that is made before its day lives until the end of the next', async () => {
  const { store } = database
  const project = await newProject(store)
  await send(store, project, [
    { ...at('21 10:00'), timestamp: '2090-01-21T10:00:00Z' },
    at('11 10:00'),
  ])
  const salts = await select<{ days: number }>(
    store,
    sql`
SELECT toString(day) AS name, dateDiff('hour', greatest(toDateTime(day, 'UTC'), toDateTime(now(), 'UTC')), created_at) AS hours
FROM salts WHERE day IN ('2026-01-11', '2090-01-21') ORDER BY day`,
  )
  expect(salts).toEqual([
    { name: '2026-01-11', hours: 0 },
    { name: '2090-01-21', hours: 0 },
  ])
  expect(
    await select(
      store,
      sql`SELECT extract(create_table_query, 'TTL (.*?) SETTINGS') AS ttl FROM system.tables
WHERE database = currentDatabase() AND name = ${string('salts')}`,
    ),
  ).toEqual([{ ttl: 'created_at + toIntervalDay(2)' }])
})
