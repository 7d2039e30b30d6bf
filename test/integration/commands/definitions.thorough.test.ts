/** `tallyhouse goal` and `tallyhouse segment`: what they define is what the service reads. */
import { beforeAll, expect, test } from '@jest/globals'
import { addDefinitions } from '../../../src/commands/definitions.js'
import { listDefinitions } from '../../../src/projects/definitions.js'
import { createProject } from '../../../src/projects/store.js'
import { runCommand, type CommandResult } from '../../support/cli/commands.js'
import { withDatabase } from '../../support/store/database.js'

const NOW = new Date('2026-01-31T12:00:00Z')
const database = withDatabase()

beforeAll(async () => {
  await createProject(database.store, { id: 'shop', name: 'S', domain: 's.example' }, NOW)
})

const run = (kind: 'goal' | 'segment', ...args: readonly string[]): Promise<CommandResult> =>
  runCommand(addDefinitions(kind), [kind, ...args, '--project', 'shop'], {
    endpoint: database.endpoint,
    now: NOW,
  })

test('goals and segments are set, listed and deleted', async () => {
  const filter = ['--filter', 'event:name is purchase']
  const value = ['--value', 'event:prop:amount']
  const first = await run('goal', 'set', 'purchase', ...filter, ...value)
  const second = await run('goal', 'set', 'purchase', ...filter, ...value)
  expect([first.stdout, second.stdout].map((text) => text.trim())).toEqual([
    'defined the goal purchase of project shop',
    'set the goal purchase of project shop',
  ])
  await run('segment', 'set', 'de', '--filter', 'country is DE')
  await run('segment', 'set', 'de-buyers', '--filter', 'segment is de', ...filter)
  const purchase = {
    field: 'event:name',
    operator: 'is',
    value: ['purchase'],
    case_sensitive: true,
  }
  expect(await listDefinitions(database.store.reader, 'shop')).toMatchObject([
    { kind: 'goal', name: 'purchase', filters: [purchase], value: 'event:prop:amount' },
    { kind: 'segment', name: 'de', value: null },
    { kind: 'segment', name: 'de-buyers' },
  ])
  const listed = await run('goal', 'list', '--json')
  expect(JSON.parse(listed.stdout)).toEqual([
    { name: 'purchase', filters: [purchase], value: 'event:prop:amount' },
  ])
  expect((await run('segment', 'list')).stdout.split('\n')[0]).toMatch(/^NAME +FILTERS$/)
  expect((await run('segment', 'delete', 'de')).error).toBe(
    'the segment de is used by the segment de-buyers',
  )
  await run('segment', 'delete', 'de-buyers')
  await run('segment', 'delete', 'de')
  await run('goal', 'delete', 'purchase')
  expect(await listDefinitions(database.store.reader, 'shop')).toEqual([])
})

test('what is invalid about filters is printed', async () => {
  const { error, stderr } = await run('goal', 'set', 'x', '--filter', 'planet is DE')
  expect([error, stderr]).toEqual([
    'the filters are invalid',
    expect.stringMatching(/^filters\.0\.field: must be/),
  ])
})
