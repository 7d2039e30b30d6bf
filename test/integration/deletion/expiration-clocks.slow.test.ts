/** A clock that is wrong deletes nothing that is to be kept. */
import { expect, test } from '@jest/globals'
import type { Clocks } from '../../../src/clickhouse/clocks.js'
import { sql, string } from '../../../src/clickhouse/sql.js'
import { addProject } from '../../../src/commands/project.js'
import { expireProjects } from '../../../src/deletion/expire-projects.js'
import { createLogger } from '../../../src/lib/log.js'
import { addDays, addMs, HOUR_MS, MINUTE_MS } from '../../../src/lib/time.js'
import { markCut, updateProject } from '../../../src/projects/store.js'
import { runCommand, type CommandResult } from '../../support/cli/commands.js'
import { thoroughTest } from '../../support/effort.js'
import { agreeOn } from '../../support/store/clocks.js'
import { withDatabase } from '../../support/store/database.js'
import { select } from '../../support/store/facts.js'
import { createContext } from '../../support/store/loading.js'
import { newProject, send } from '../../support/world/world.js'

const NOW = new Date('2026-06-15T12:00:00Z')
const KEEP_DAYS = 30

const database = withDatabase()

/** Creates a project with an event of each age, in days before NOW. */
async function createAged(ages: readonly number[], from = NOW): Promise<string> {
  const { id } = await newProject(database.store, { keepDays: KEEP_DAYS })
  await receive(
    id,
    ages.map((age) => addDays(from, -age)),
  )
  // Otherwise the first expiration only records it.
  await markCut(database.store.writer, id)
  return id
}

const receive = (id: string, times: readonly Date[]): Promise<unknown> =>
  send(
    database.store,
    { id },
    times.map((time) => ({ timestamp: time.toISOString(), user_id: 'u', path: '/' })),
  )

/** Expires all projects; returns why this one is held, and how many days before `from` its events are. */
async function expire(id: string, clocks: Clocks): Promise<{ hold?: string; ages: number[] }> {
  const { store } = database
  const held = await expireProjects(
    { store, context: createContext(), logger: createLogger('silent') },
    clocks,
  )
  const hold = held.find(({ projectId }) => projectId === id)?.hold
  return { ...(hold === undefined ? {} : { hold }), ages: await readAges(id) }
}

const readAges = async (id: string, from = NOW): Promise<number[]> =>
  (
    await select<{ age: number }>(
      database.store,
      sql`
SELECT dateDiff('day', timestamp, toDateTime64(${string(from.toISOString().slice(0, 19))}, 3, 'UTC')) AS age
FROM events WHERE project_id = ${string(id)} ORDER BY age`,
    )
  ).map(({ age }) => age)

test('clocks of the host and the store that differ by more than a minute delete nothing', async () => {
  const id = await createAged([0, 10, 40])
  const ahead = { host: addDays(NOW, 400), store: NOW }
  expect(await expire(id, ahead)).toEqual({ hold: 'clocks', ages: [0, 10, 40] })
  expect(await expire(id, { host: NOW, store: ahead.host })).toEqual({
    hold: 'clocks',
    ages: [0, 10, 40],
  })
  const apart = { host: addMs(NOW, MINUTE_MS), store: NOW }
  expect(await expire(id, apart)).toEqual({ ages: [0, 10] })
  // The earlier clock counts, so the event of 30 days ago is kept.
  const midnight = new Date('2026-06-16T00:00:10Z')
  await receive(id, [midnight, addDays(NOW, -30)])
  const around = { host: addMs(midnight, -MINUTE_MS / 2), store: midnight }
  expect(await expire(id, around)).toEqual({ ages: [-1, 0, 10, 30] })
})

thoroughTest(
  'a clock that host and store share deletes two days a day at most when it jumps ahead',
  async () => {
    const id = await createAged([0, 10, 28, 29, 30, 40])
    expect(await expire(id, agreeOn(NOW))).toEqual({ ages: [0, 10, 28, 29, 30] })
    const wrong = addDays(NOW, 400)
    // The service starts again; no event has arrived by that clock yet.
    expect(await expire(id, agreeOn(wrong))).toEqual({
      hold: 'newest_event',
      ages: [0, 10, 28, 29, 30],
    })
    await receive(id, [wrong])
    const hours = [1, 2, 3]
    for (const hour of hours) {
      expect(await expire(id, agreeOn(addMs(wrong, hour * HOUR_MS)))).toEqual({
        hold: 'pace',
        ages: [-400, 0, 10, 28],
      })
    }
    // The clock is right again.
    await receive(id, [addDays(NOW, 3)])
    const right = addDays(NOW, 3)
    expect(await expire(id, agreeOn(right))).toEqual({ ages: [-400, -3, 0, 10, 28] })
    const later = addMs(right, 12 * HOUR_MS - 1)
    expect(await expire(id, agreeOn(later))).toEqual({ ages: [-400, -3, 0, 10, 28] })
    expect(await expire(id, agreeOn(addMs(later, 1)))).toEqual({ ages: [-400, -3, 0, 10] })
  },
)

thoroughTest(
  'a lower number of days takes effect by two days a day, a higher one at once',
  async () => {
    const id = await createAged([0, 8, 27, 28, 29, 30])
    expect(await expire(id, agreeOn(NOW))).toEqual({ ages: [0, 8, 27, 28, 29, 30] })
    await updateProject(database.store, id, { keepDays: 7 })
    const tomorrow = addDays(NOW, 1)
    await receive(id, [tomorrow])
    expect(await expire(id, agreeOn(tomorrow))).toEqual({ hold: 'pace', ages: [-1, 0, 8, 27, 28] })
    await updateProject(database.store, id, { keepDays: 100 })
    await receive(id, [addDays(NOW, -90)])
    const later = addDays(NOW, 2)
    await receive(id, [later])
    expect(await expire(id, agreeOn(later))).toEqual({ ages: [-2, -1, 0, 8, 27, 28, 90] })
    // To keep everything, and then some days, is a first time again.
    await updateProject(database.store, id, { keepDays: null })
    await expire(id, agreeOn(later))
    await updateProject(database.store, id, { keepDays: 7 })
    expect(await expire(id, agreeOn(later))).toEqual({ ages: [-2, -1, 0] })
  },
)

const run = (args: string, now: Date): Promise<CommandResult> =>
  runCommand(addProject, ['project', ...args.split(' ')], { endpoint: database.endpoint, now })

test('--force deletes at once by the clock, which the store must share', async () => {
  const now = new Date()
  const id = await createAged([100, 200], now)
  const update = `update ${id} --keep-days 150`
  expect((await run(`${update} --force`, addDays(now, 400))).error).toBe(
    'the clocks of this host and the store differ by 9600 h, so nothing was deleted: synchronize them, with NTP for instance, then run this again',
  )
  expect(await readAges(id, now)).toEqual([100, 200])
  const day = addDays(now, -150).toISOString().slice(0, 10)
  const forced = await run(`${update} --force --wait`, now)
  expect(forced).toMatchObject({
    stderr: `the data from before ${day} is deleted\n`,
    error: undefined,
  })
  expect(await readAges(id, now)).toEqual([100])
  const lower = await run(`update ${id} --keep-days 50`, now)
  expect(lower.stderr).toBe(
    'older data is deleted by two days a day; with --force, all of it is deleted now\n',
  )
  expect(await readAges(id, now)).toEqual([100])
  expect((await run(`update ${id} --keep-days none --force`, now)).error).toBe(
    'error: --force needs --keep-days with a number of days',
  )
})
