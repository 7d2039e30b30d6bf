/** `tallyhouse project` in the process of the test: changes of a project that its other tests do not make. */
import { expect, test } from '@jest/globals'
import { addProject } from '../../../src/commands/project.js'
import { createProject } from '../../../src/projects/store.js'
import { runCommand, type CommandResult } from '../../support/cli/commands.js'
import { withDatabase } from '../../support/store/database.js'

const NOW = new Date('2026-01-31T12:00:00Z')

const database = withDatabase()

const run = (args: string): Promise<CommandResult> =>
  runCommand(addProject, ['project', ...args.split(' ')], {
    endpoint: database.endpoint,
    now: NOW,
  })

test.each([
  ['', '2026-02-07 12:00:00 UTC'],
  [' --grace 30d', '2026-03-02 12:00:00 UTC'],
  [' --grace 2026-06-01', '2026-06-01 00:00:00 UTC'],
  [' --grace none', undefined],
])('rotate-token%s: the former token ends at %s', async (options, until) => {
  const { id, token } = await createProject(
    database.store,
    { name: 'Shop', domain: 'shop.example' },
    NOW,
  )
  const { stdout, stderr, error } = await run(`rotate-token ${id}${options}`)
  expect({ stderr, error }).toEqual({ stderr: '', error: undefined })
  const fields = new Map(stdout.split('\n').map((line) => line.split(/ {2,}/) as [string, string]))
  expect(fields.get('token')).toMatch(/^tallypub_[a-z0-9]{30}$/)
  expect(fields.get('token')).not.toBe(token)
  expect(fields.get('former token')).toBe(until && `${token} until ${until}`)
})

test.each([
  ['90', '90 days'],
  ['none', 'forever'],
])('update --keep-days %s: data is kept %s', async (days, kept) => {
  const fields = { name: 'Shop', domain: 'shop.example', keepDays: 7 }
  const { id } = await createProject(database.store, fields, NOW)
  const { stdout, error } = await run(`update ${id} --keep-days ${days}`)
  expect(error).toBeUndefined()
  expect(stdout).toMatch(new RegExp(`^data is kept +${kept}$`, 'm'))
})

test.each([
  [
    'update shop --keep-days 0',
    `option '--keep-days <days>' argument '0' is invalid. Expected a number of days, or "none".`,
  ],
  ['rotate-token', `missing required argument 'id'`],
  ['rotate-token nobody', 'there is no project nobody'],
  [
    'rotate-token shop --grace soon',
    `option '--grace <when>' argument 'soon' is invalid. Expected days such as 30d, a date such as 2030-01-31, or a time such as 2030-01-31T12:00:00Z.`,
  ],
])('%s is an error', async (args, message) => {
  const { stdout, error } = await run(args)
  expect({ stdout, error: error?.replace(/^error: /, '') }).toEqual({ stdout: '', error: message })
})
