/** Measures what visitors notice while somebody with a public token sends events that are much work to load. */
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { text } from 'node:stream/consumers'
import { createProject } from '../src/projects/store.js'
import { withDemoService, withStore, type DemoService } from './shared/demo-service.js'
import { createEvent, FLOODS, type Flood } from './shared/floods.js'
import { formatTenths, formatWhole, printMachine, printTable } from './shared/figures.js'
import { issueToken } from './shared/service.js'

/** The share of each flood that is sent. */
const SCALE = Number(process.env['SCALE'] ?? 1)
/** The longest that a flood goes on, in seconds. */
const SECONDS = Number(process.env['SECONDS'] ?? 90)
const SENDERS = 4
const [VISIT_MS, POLL_MS, PROBE_MS] = [1_000, 250, 100]
/** How long the events of a flood may take to be visible after its end. */
const DRAIN_MS = 60_000
interface Site {
  /** The API key and the public token of a project. */
  readonly key: string
  readonly publicToken: string
}

interface Reply {
  readonly status: number
  readonly body: { readonly error?: { readonly code: string } }
}

const agent = new Agent({ keepAlive: true })

const post = (url: string, token: string, body: unknown): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    request(url, { method: 'POST', agent, headers }, (response) => {
      const parse = (json: string): void =>
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(json) as Reply['body'] })
      text(response).then(parse, reject)
    })
      .on('error', reject)
      .end(JSON.stringify(body))
  })

/** Sends a flood; a request that is refused for now is sent again a second later. Returns what came of the requests. */
async function send({ requests, make }: Flood, url: string, token: string) {
  const outcomes = new Map<string, number>()
  const until = performance.now() + SECONDS * 1_000
  const total = Math.ceil(requests * SCALE)
  let [begun, accepted] = [0, 0]
  const sendNext = async (): Promise<void> => {
    while (begun++ < total) {
      const events = make()
      for (let isDone = false; !isDone && performance.now() < until;) {
        const { status, body } = await post(url, token, events)
        const outcome = `${status} ${body.error?.code ?? ''}`.trim()
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
        if (status === 202) accepted += events.length
        isDone = status !== 429 && status !== 503
        if (!isDone) await sleep(1_000)
      }
    }
  }
  await Promise.all(Array.from({ length: SENDERS }, sendNext))
  return { accepted, outcomes }
}

/** Sends an event per second to a project until `isOver`; returns the longest time until one was visible, in milliseconds. */
async function visit(address: string, { key, publicToken }: Site, isOver: () => boolean) {
  const run = randomUUID()
  const sent = new Map<string, number>()
  let [longest, lost] = [0, 0]
  const sending = (async () => {
    for (let n = 0; !isOver(); n++) {
      const name = `${run}-${n}`
      sent.set(name, performance.now())
      const properties = { plan: 'pro', page: n, kind: 'visit' }
      const event = createEvent({ name, user_id: `visitor-${n}`, properties })
      if ((await post(`${address}/v1/events`, publicToken, event)).status !== 202) {
        sent.delete(name)
        lost++
      }
      await sleep(VISIT_MS)
    }
  })()
  const query = {
    ...{ date_range: 'today', metrics: ['events'], group_by: ['event:name'], limit: 1_000 },
    filters: [{ type: 'event', name: { operator: 'contains', value: run } }],
  }
  let giveUpAt = Infinity
  while ((!isOver() || sent.size > 0) && performance.now() < giveUpAt) {
    const { status, body } = await post(`${address}/v1/analytics/query`, key, query)
    const { data = [] } = body as { data?: { group: Record<string, string> }[] }
    if (status !== 200) throw new Error(JSON.stringify(body))
    for (const { group } of data) {
      const name = group['event:name'] ?? ''
      const at = sent.get(name)
      if (sent.delete(name) && at !== undefined) longest = Math.max(longest, performance.now() - at)
    }
    if (isOver()) giveUpAt = Math.min(giveUpAt, performance.now() + DRAIN_MS)
    await sleep(POLL_MS)
  }
  await sending
  return { longest: sent.size > 0 ? Infinity : longest, lost }
}

/** Asks /livez until `isOver`; returns the slowest response in milliseconds. */
async function probe(address: string, isOver: () => boolean): Promise<number> {
  let slowest = 0
  while (!isOver()) {
    const begun = performance.now()
    await (await fetch(`${address}/livez`)).arrayBuffer()
    slowest = Math.max(slowest, performance.now() - begun)
    await sleep(PROBE_MS)
  }
  return slowest
}

async function measure({ address }: DemoService, flood: Flood, own: Site, other: Site) {
  let isOver = false
  const visitors = [own, other].map((site) => visit(address, site, () => isOver))
  const probing = probe(address, () => isOver)
  await sleep(5_000)
  const begun = performance.now()
  const { accepted, outcomes } = await send(flood, `${address}/v1/events`, own.publicToken)
  const seconds = (performance.now() - begun) / 1_000
  await sleep(10_000)
  isOver = true
  const seen = await Promise.all(visitors)
  return [
    flood.name,
    [...outcomes].map(([outcome, count]) => `${outcome}: ${formatWhole(count)}`).join(', '),
    formatWhole(accepted),
    formatTenths(seconds),
    ...seen.map(({ longest }) => formatTenths(longest / 1_000)),
    formatWhole(seen.reduce((sum, { lost }) => sum + lost, 0)),
    formatWhole(await probing),
  ]
}

// The limits of the service are those that it has by default.
await withDemoService(1, { MAX_WAITING_VALUES: '' }, async (service) => {
  const own: Site = { key: service.tokens[0]!, publicToken: service.publicToken }
  const other = await withStore(service, async (store): Promise<Site> => {
    const now = new Date()
    const fields = { id: 'other', name: 'Other', domain: 'other.example' }
    const { id, token } = await createProject(store, fields, now)
    return { key: await issueToken(store, service.dataDir, id, now), publicToken: token }
  })
  const lines: (readonly string[])[] = []
  for (const flood of FLOODS) {
    const line = await measure(service, flood, own, other)
    console.error(line.join(' | '))
    lines.push(line)
  }
  await printMachine(new Date())
  printTable(
    [
      ...['sent to one project', 'responses', 'events accepted', 'in s'],
      ...['its visitors: longest s', 'of another project', 'visits refused', '/livez most ms'],
    ],
    lines,
  )
})
