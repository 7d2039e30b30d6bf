/** Asks a service while a project changes, and finds responses that are of no state of it. */
import { setTimeout as sleep } from 'node:timers/promises'

const ALL = ['users', 'new_users', 'visits', 'pageviews', 'bounce_rate', 'visit_duration']
const IN_FRANCE = { type: 'location', country: { operator: 'oneOf', value: ['FR'] } }

type Queries = Readonly<Record<string, readonly [path: string, body: object]>>

/** Lists what is asked. @param dates the period of all queries, for a service whose clock goes on; else each has one of its own */
const listQueries = (dates?: readonly [from: string, to: string]): Queries => ({
  total: ['/v1/analytics/query', { date_range: dates ?? 'all', metrics: ALL }],
  'by page': [
    '/v1/analytics/query',
    {
      date_range: dates ?? '12months',
      metrics: ALL,
      group_by: ['page:path'],
      include: { totals: true },
    },
  ],
  'by country': [
    '/v1/analytics/query',
    {
      date_range: dates ?? '30days',
      metrics: ALL,
      group_by: ['country'],
      compare: 'previous_period',
    },
  ],
  filtered: [
    '/v1/analytics/query',
    {
      date_range: dates ?? '12months',
      metrics: ALL,
      group_by: ['page:path'],
      filters: [IN_FRANCE],
    },
  ],
  'new users': [
    '/v1/analytics/query',
    {
      date_range: dates ?? '30days',
      metrics: ['new_users', 'users'],
      group_by: ['interval:day'],
    },
  ],
  retention: ['/v1/analytics/retention', { date_range: dates ?? '30days', interval: 'day' }],
  export: [
    '/v1/events/export',
    { date_range: dates ?? '30days', fields: ['timestamp', 'path', 'user_id'] },
  ],
})

/** Where to ask. */
export interface Asked {
  /** Returns the address of the service; undefined while it is not running. */
  readonly address: () => string | undefined
  readonly key: string
  readonly dates?: readonly [from: string, to: string]
  /** Whether it is killed meanwhile: a query without a response is asked again. */
  readonly isKilled?: boolean
}

/** Returns the response; undefined if the service was killed, or refuses because its engine was. */
async function ask(
  { address, key, isKilled = false }: Asked,
  [path, body]: readonly [string, object],
): Promise<string | undefined> {
  const sent = fetch(`${address() ?? NOWHERE}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  const given = await sent
    .then(async (response) => ({ status: response.status, text: await response.text() }))
    .catch((error: unknown) => {
      if (!isKilled) throw error
      return undefined
    })
  if (given?.status === 200) return given.text
  const isRefused = given === undefined || given.status >= 500
  if (!isKilled || !isRefused) throw new Error(`${given?.status} ${given?.text}`)
  await sleep(PAUSE_MS)
  return undefined
}

/** A port on which nothing listens. */
const NOWHERE = 'http://127.0.0.1:2'
const PAUSE_MS = 50

/** Few, so that they meet each step of a change, also on a busy machine. */
const AT_ONCE = 3

type Responses = Readonly<Record<string, string>>

async function askAll(asked: Asked, queries: Queries): Promise<Responses> {
  const texts = await Promise.all(
    Object.entries(queries).map(async ([name, query]) => {
      let text: string | undefined
      while (text === undefined) text = await ask(asked, query)
      return [name, text] as const
    }),
  )
  return Object.fromEntries(texts)
}

export interface Watched {
  /** How many responses there were. */
  readonly asked: number
  /** Those that are neither that of before nor that of afterwards, with both. */
  readonly mixed: readonly unknown[]
}

/** Asks while a change goes on, and compares the responses with those of before and of afterwards. */
export async function watchChange(asked: Asked, change: () => Promise<unknown>): Promise<Watched> {
  const queries = listQueries(asked.dates)
  const before = await askAll(asked, queries)
  const given: [name: string, text: string][] = []
  const state = { isOver: false }
  let next = 0
  const asking = Array.from({ length: AT_ONCE }, async () => {
    while (!state.isOver) {
      const [name, query] = Object.entries(queries)[next++ % Object.keys(queries).length]!
      const text = await ask(asked, query)
      if (text !== undefined) given.push([name, text])
    }
  })
  await change().finally(() => (state.isOver = true))
  await Promise.all(asking)
  const after = await askAll(asked, queries)
  const mixed = given.filter(([name, text]) => text !== before[name] && text !== after[name])
  return {
    asked: given.length,
    mixed: mixed.map(([name, text]) => ({ name, text, before: before[name], after: after[name] })),
  }
}
