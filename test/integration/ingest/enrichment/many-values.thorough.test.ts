/** Many distinct user agents are classified in parts, while the process goes on with other work. */
import { expect, test } from '@jest/globals'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { sql, statement, string, uint32 } from '../../../../src/clickhouse/sql.js'
import { withDatabase } from '../../../support/store/database.js'
import { select } from '../../../support/store/facts.js'
import { loadInbox } from '../../../support/store/stream.js'
import { newProject } from '../../../support/world/world.js'

const database = withDatabase()

const AGENTS = 30_000

test('30,000 distinct user agents are all classified, and other work waits for less than half a second', async () => {
  const { store } = database
  const { id } = await newProject(store)
  const agent = sql`concat('Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0 ', toString(number), arrayStringConcat(arrayMap(i -> toString(cityHash64(number, i)), range(20)), ' '))`
  await store.writer.execute(
    statement(sql`
INSERT INTO inbox (project, line)
SELECT ${string(id)}, concat('{"user_id":"u', toString(number), '","user_agent":"', ${agent}, '"}') FROM numbers(${uint32(AGENTS)})`),
  )
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  await loadInbox(store)
  delay.disable()
  expect(
    await select(
      store,
      sql`SELECT browser, count() AS n FROM events WHERE project_id = ${string(id)} GROUP BY browser`,
    ),
  ).toEqual([{ browser: 'Firefox', n: AGENTS }])
  expect(await select(store, sql`SELECT uniqExact(user_agent) AS n FROM agents`)).toEqual([
    { n: AGENTS },
  ])
  expect(delay.max / 1e6).toBeLessThan(500)
})
