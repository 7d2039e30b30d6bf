/** Measures what it costs to refuse hostile bodies of queries, as multiples of an ordinary invalid query. */
import { HOSTILE_BODIES } from '../test/support/faults/hostile-bodies.js'
import { withDemoService, type DemoService } from './shared/demo-service.js'
import { formatTenths, measureMs, printMachine, printTable, summarize } from './shared/figures.js'

const ROUNDS = Number(process.env['ROUNDS'] ?? 50)
const BODIES = [
  ['an ordinary one', '{"date_range":"31days","metrics":["users"]}'],
  ['an ordinary one, and 60 kB of spaces', `{"date_range":"31days"${' '.repeat(60_000)}}`],
  ...HOSTILE_BODIES,
] as const

async function refuse({ address, tokens }: DemoService, body: string): Promise<void> {
  const response = await fetch(`${address}/v1/analytics/query`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tokens[0]!}`, 'Content-Type': 'application/json' },
    body,
  })
  await response.arrayBuffer()
  if (response.status !== 400) throw new Error(`${response.status} instead of 400`)
}

await withDemoService(1, { RATE_LIMIT: '0' }, async (service) => {
  const times = BODIES.map((): number[] => [])
  // One after the other in each round, so that all meet the same moments of a busy machine.
  for (let round = -5; round < ROUNDS; round++) {
    for (const [i, [, body]] of BODIES.entries()) {
      const ms = await measureMs(() => refuse(service, body))
      if (round >= 0) times[i]!.push(ms)
    }
  }
  const medians = times.map((all) => summarize(all).median)
  await printMachine(new Date())
  printTable(
    ['body with too many', 'median ms', '×'],
    BODIES.map(([what], i) => [
      what,
      formatTenths(medians[i]!),
      formatTenths(medians[i]! / medians[0]!),
    ]),
  )
})
