/** Excluded events are counted by the day of their arrival and by reason. */
import { expect, test } from '@jest/globals'
import { addProject } from '../../../../src/commands/project.js'
import { readExclusions, type DailyExclusions } from '../../../../src/projects/exclusions.js'
import type { StoredProject } from '../../../../src/projects/project.js'
import { runCommand } from '../../../support/cli/commands.js'
import { withDatabase } from '../../../support/store/database.js'
import { expectConsistentFacts, readFacts } from '../../../support/store/facts.js'
import { importLines, toLines } from '../../../support/sources/sources.js'
import { feed, loadInbox } from '../../../support/store/stream.js'
import { ARRIVAL, newProject } from '../../../support/world/world.js'
import { deleteProject } from '../../../support/store/loading.js'

const database = withDatabase()

const at = (day: number, fields: object = {}): object => ({
  timestamp: `2026-01-${day}T10:00:00Z`,
  user_id: 'u',
  ...fields,
})

const shown = ({ id }: StoredProject): Promise<readonly DailyExclusions[]> =>
  readExclusions(database.store.reader, id)

const RULES = { excludedIps: ['192.0.2.0/24'], excludedCountries: ['DE'] }
const OUT = {
  ip: { ip: '192.0.2.1' },
  country: { country: 'DE' },
  bot: { user_agent: 'Googlebot/2.1' },
} as const

test('excluded events are counted by day and first reason, over all loads', async () => {
  const { store } = database
  const project = await newProject(store, RULES)
  const other = await newProject(store, RULES)
  const days = [
    [20, OUT.ip],
    [20, { ...OUT.ip, ...OUT.country, ...OUT.bot }],
    [20, { ...OUT.country, ...OUT.bot }],
    [21, OUT.bot],
    [21, {}],
  ] as const
  const arrive = (day: number, id: string, ...fields: readonly object[]): Promise<void> =>
    feed(
      store,
      id,
      fields.map((one) => at(19, one)),
      `2026-01-${day} 10:00:00`,
    )
  for (const [day, fields] of days) await arrive(day, project.id, fields)
  await arrive(20, other.id, OUT.bot)
  await loadInbox(store)
  await arrive(20, project.id, OUT.bot)
  await arrive(22, project.id, OUT.country, OUT.country)
  await loadInbox(store)
  const want = [
    { day: '2026-01-22', bot: 0, ip: 0, country: 2 },
    { day: '2026-01-21', bot: 1, ip: 0, country: 0 },
    { day: '2026-01-20', bot: 1, ip: 2, country: 1 },
  ]
  expect(await shown(project)).toEqual(want)
  expect(await shown(other)).toEqual([{ day: '2026-01-20', bot: 1, ip: 0, country: 0 }])

  const { endpoint } = database
  const show = (...args: readonly string[]) =>
    runCommand(addProject, ['project', 'show', project.id, ...args], { endpoint, now: ARRIVAL })
  const { stdout } = await show('--json')
  expect(JSON.parse(stdout)).toMatchObject({ id: project.id, exclusions: want })
  expect((await show()).stdout).toMatch(
    /\n\nEXCLUDED +BOTS +BY IP +BY COUNTRY\n2026-01-22 +0 +0 +2\n2026-01-21 +1 +0 +0\n2026-01-20 +1 +2 +1\n$/,
  )
})

test('an excluded event does not use up its event id, and creates no user', async () => {
  const { store } = database
  const project = await newProject(store, RULES)
  const { id: projectId } = project
  const out = Object.values(OUT).map((fields, n) =>
    at(25, {
      ...fields,
      event_id: `e${n}`,
      user_id: null,
      ...(n === 0 ? {} : { ip: '198.51.100.1' }),
    }),
  )
  expect((await importLines(store, toLines(out), { projectId })).report).toMatchObject({
    ...{ received: 3, events: 0, duplicates: 0, bots: 1, excluded: 2 },
    ...{ users: 0, sessions: 0, first: null, last: null },
  })
  expect(await readFacts(store, projectId)).toEqual([])
  // If an excluded event has the id of another one, the other counts, whichever comes first.
  const again = [0, 1, 2].map((n) => at(25, { event_id: `e${n}`, path: `/${n}` }))
  const both = [at(25, { ...OUT.bot, event_id: 'f' }), at(25, { event_id: 'f', path: '/f' })]
  const { report } = await importLines(store, toLines([...again, ...both, ...again]), { projectId })
  expect(report).toMatchObject({ events: 4, duplicates: 3, bots: 1 })
  await expectConsistentFacts(store, projectId)
})

test('the counts are deleted with the project', async () => {
  const { store } = database
  const project = await newProject(store, RULES)
  await importLines(store, toLines([at(20, OUT.bot), at(20)]), { projectId: project.id })
  expect(await shown(project)).toHaveLength(1)
  await deleteProject(store, project.id)
  expect(await shown(project)).toEqual([])
  expect(await shown(await newProject(store, { id: project.id }))).toEqual([])
})
