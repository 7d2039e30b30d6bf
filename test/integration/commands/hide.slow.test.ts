/** A command that deletes returns once no query counts the rows, which whoever comes next deletes. */
import { expect, test } from '@jest/globals'
import { lookForUnfinishedChanges } from '../../../src/changes/left-changes.js'
import { addProject } from '../../../src/commands/project.js'
import type { AddCommand } from '../../../src/commands/shared/context.js'
import { addUser } from '../../../src/commands/user.js'
import { addDays, MINUTE_MS } from '../../../src/lib/time.js'
import { markCut } from '../../../src/projects/store.js'
import { runCommand, type CommandResult } from '../../support/cli/commands.js'
import { withDatabase } from '../../support/store/database.js'
import { countEvents } from '../../support/store/hidden.js'
import { resumeLoads } from '../../support/store/loading.js'
import { newProject, send } from '../../support/world/world.js'

const NOW = new Date()
const FIRST_DAY = addDays(NOW, -5).toISOString().slice(0, 10)
const LEFT =
  'A service on this store now deletes the rows; without one, the next import or start of a service does, or --wait\n'

const database = withDatabase()

const run = (add: AddCommand, args: string): Promise<CommandResult> =>
  runCommand(add, args.split(' '), { endpoint: database.endpoint, now: NOW })

/** Creates a project with an event of `old` of ten days ago, and one of `new` of yesterday. */
async function create(): Promise<string> {
  const { store } = database
  const { id } = await newProject(store)
  await send(store, { id }, [
    { timestamp: addDays(NOW, -10).toISOString(), user_id: 'old', path: '/' },
    { timestamp: addDays(NOW, -1).toISOString(), user_id: 'new', path: '/' },
  ])
  // Otherwise the first expiration waits until services know of it.
  await markCut(store.writer, id)
  return id
}

test.each([
  {
    add: addUser,
    args: (id: string) => `user delete old --project ${id} --yes`,
    hidden: (id: string) => ({
      stdout: `hid user old of project ${id}, with 1 event in 1 session\n`,
      stderr: `no query counts them any more. ${LEFT}`,
    }),
    left: 0,
  },
  {
    add: addProject,
    args: (id: string) => `project update ${id} --keep-days 5 --force`,
    hidden: () => ({
      stderr: `no query counts the data from before ${FIRST_DAY} any more. ${LEFT}`,
    }),
    left: 1,
  },
])('$add.name', async ({ add, args, hidden, left }) => {
  const { store } = database
  const id = await create()
  expect(await run(add, args(id))).toMatchObject({ error: undefined, ...hidden(id) })
  expect(await countEvents(store, id)).toEqual({ stored: 2, read: 1 })
  // An idle loader goes on with it, and so does the next command; days that were hidden just now are left for later.
  let now = 0
  const look = lookForUnfinishedChanges(store.lookups, () => now)
  now = MINUTE_MS
  expect(await look()).toBe(true)
  const next = await run(addUser, `user delete new --project ${id} --yes --wait`)
  expect(next).toMatchObject({
    stdout: `deleted user new of project ${id}, with 1 event in 1 session\n`,
    stderr: '',
  })
  expect(await countEvents(store, id)).toEqual({ stored: left, read: 0 })
  await resumeLoads(store.writer)
  expect(await countEvents(store, id)).toEqual({ stored: 0, read: 0 })
  now = 2 * MINUTE_MS
  expect(await look()).toBe(false)
})
