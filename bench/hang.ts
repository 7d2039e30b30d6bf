/** Measures a store that hangs for a minute while events arrive: memory, what is lost, and when it answers again. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql, statement, type Sql } from '../src/clickhouse/sql.js'
import { createVisit, findChild, readMemory } from './shared/collecting.js'
import { send, withDemoService, withStore, type DemoService } from './shared/demo-service.js'
import { formatTenths, formatWhole, printMachine, printTable } from './shared/figures.js'
import { sendLoad } from './shared/http-load.js'

const EVENTS_PER_SECOND = 500
const CONNECTIONS = 100
/** Seconds before, during and after the hang. */
const [BEFORE, HANG, AFTER] = [15, Number(process.env['SECONDS'] ?? 60), 20]
const QUERY = { date_range: 'today', metrics: ['events'] }
const POLL_MS = 100

/** Reads the highest memory of the service until `isOver`. */
async function watchMemory({ pid }: DemoService, isOver: () => boolean): Promise<number> {
  let most = 0
  while (!isOver()) {
    most = Math.max(most, await readMemory(pid))
    await sleep(POLL_MS)
  }
  return most
}

/** Suspends the engine; returns the milliseconds from its return to the first answer to a query. */
async function hang(service: DemoService): Promise<number> {
  const engine = await findChild(service.pid)
  process.kill(engine, 'SIGSTOP')
  await sleep(HANG * 1_000)
  process.kill(engine, 'SIGCONT')
  const begun = performance.now()
  for (;;) {
    const { status } = await send(service, service.tokens[0]!, QUERY)
    if (status === 200) return performance.now() - begun
    await sleep(POLL_MS)
  }
}

/** Counts the stored events of the load, once all are loaded. */
const countStored = (service: DemoService): Promise<number> =>
  withStore(service, async ({ admin }) => {
    const count = async (query: Sql): Promise<number> => {
      const { rows } = await admin.query<{ n: number }>(statement(query))
      return rows[0]?.n ?? 0
    }
    while ((await count(sql`SELECT count() AS n FROM inbox WHERE line != ''`)) > 0)
      await sleep(1_000)
    return count(sql`SELECT count() AS n FROM events WHERE origin = 'https://example.com'`)
  })

await withDemoService(1, {}, async (service) => {
  const load = sendLoad({
    url: `${service.address}/v1/events`,
    headers: {
      'Content-Type': 'application/json',
      Authorization: `Bearer ${service.publicToken}`,
    },
    body: (n) => JSON.stringify(createVisit(n)),
    connections: CONNECTIONS,
    seconds: BEFORE + HANG + AFTER,
    rate: EVENTS_PER_SECOND,
  })
  await sleep(BEFORE * 1_000)
  const before = await readMemory(service.pid)
  let isOver = false
  const memory = watchMemory(service, () => isOver)
  const backMs = await hang(service)
  const { statuses } = await load
  isOver = true
  const most = await memory
  const acknowledged = statuses.get('202') ?? 0
  const refused = [...statuses.values()].reduce((sum, count) => sum + count, 0) - acknowledged
  const stored = await countStored(service)
  await printMachine(new Date())
  printTable(
    ['MB before', 'most MB', '202', 'refused', 'stored', 'answers again after ms'],
    [[...[before, most, acknowledged, refused, stored].map(formatWhole), formatTenths(backMs)]],
  )
})
