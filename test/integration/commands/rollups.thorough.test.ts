/** `tallyhouse rollups`: check reports differences, and rebuild corrects them. */
import { beforeAll, expect, test } from '@jest/globals'
import { sql, statement, type Sql } from '../../../src/clickhouse/sql.js'
import { addRollups } from '../../../src/commands/rollups.js'
import { runCli } from '../../support/cli/cli.js'
import { runCommand, formatServerUrl, type CommandResult } from '../../support/cli/commands.js'
import { withDatabase } from '../../support/store/database.js'
import { createWorld, NOW } from '../../support/world/world.js'

const database = withDatabase()
beforeAll(async () => {
  const event = { timestamp: '2026-01-31T10:00:00Z', user_id: 'u1', country: 'DE' }
  await createWorld(database.store, [event], { id: 'shop' })
  await createWorld(database.store, [event], { id: 'other' })
})

const rollups = (...args: readonly string[]): Promise<CommandResult> =>
  runCommand(addRollups, ['rollups', ...args], { endpoint: database.endpoint, now: NOW })
const DIFFER = '2 groups differ; run tallyhouse rollups rebuild to recompute them'
const write = (text: Sql): Promise<void> => database.store.writer.execute(statement(text))

test('check reports no difference if the rollups agree with the events', async () => {
  expect(await rollups('check')).toEqual({
    stdout: expect.stringMatching(/^months {2}1\ngroups {2}\d+\ndiffer {2}none\n$/),
    stderr: '2026-01 compared\n',
    error: undefined,
  })
})

test('check reports a difference, and a rebuild of its project corrects it', async () => {
  await write(sql`
INSERT INTO sessions_daily (project_id, dimension, value, day, pageviews, events, visits, bounces, duration)
VALUES ('shop', 'country', 'DE', '2026-01-31', 4, 1, 0, -1, 0)`)
  await write(sql`
INSERT INTO users_monthly (project_id, dimension, value, month, generation, users)
SELECT 'shop', 'total', '', '2026-01-01', 0, groupBitmapState(toUInt32(4000000000))`)
  const rebuilt = { stdout: '', stderr: '2026-01 rebuilt\n', error: undefined }
  expect(await rollups('rebuild', '--project', 'other')).toEqual(rebuilt)

  const { stdout, ...rest } = await rollups('check', '--project', 'shop', '--json')
  expect(rest).toEqual({ stderr: '2026-01 compared\n', error: DIFFER })
  expect(JSON.parse(stdout)).toEqual({
    months: 1,
    groups: expect.any(Number),
    different: 2,
    differences: [
      {
        rollup: 'sessions_daily',
        projectId: 'shop',
        dimension: 'country',
        value: 'DE',
        date: '2026-01-31',
        stored: { pageviews: 5, events: 1, visits: 1, bounces: 0, duration: 0 },
        facts: { pageviews: 1, events: 0, visits: 1, bounces: 1, duration: 0 },
      },
      {
        rollup: 'users_monthly',
        projectId: 'shop',
        dimension: 'total',
        value: '',
        date: '2026-01-01',
        stored: { users: 2 },
        facts: { users: 1 },
      },
    ],
  })

  // A script sees the difference by the exit code.
  expect(
    await runCli(['rollups', 'check'], { CLICKHOUSE_URL: formatServerUrl(database.endpoint) }),
  ).toEqual({
    code: 1,
    stdout: expect.stringMatching(/^months {2}1\ngroups {2}\d+\ndiffer {2}2\n\nROLLUP /),
    stderr: `2026-01 compared\ntallyhouse: ${DIFFER}\n`,
  })

  expect(await rollups('rebuild', '--project', 'shop')).toEqual(rebuilt)
  expect(await rollups('check')).toMatchObject({ error: undefined })
})

test.each(['check', 'rebuild'])('%s: an unknown project', async (command) => {
  expect(await rollups(command, '--project', 'nobody')).toEqual({
    stdout: '',
    stderr: '',
    error: 'there is no project nobody',
  })
})
