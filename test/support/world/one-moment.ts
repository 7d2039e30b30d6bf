/** Asks a service while a project changes, and finds responses that are of no state of it. */

const ALL = ['users', 'new_users', 'visits', 'pageviews', 'bounce_rate', 'visit_duration']
const IN_FRANCE = { type: 'location', country: { operator: 'oneOf', value: ['FR'] } }
const QUERIES: Readonly<Record<string, readonly [path: string, body: object]>> = {
  total: ['/v1/analytics/query', { date_range: 'all', metrics: ALL }],
  'by page': [
    '/v1/analytics/query',
    { date_range: '12months', metrics: ALL, group_by: ['page:path'], include: { totals: true } },
  ],
  'by country': [
    '/v1/analytics/query',
    { date_range: '30days', metrics: ALL, group_by: ['country'], compare: 'previous_period' },
  ],
  filtered: [
    '/v1/analytics/query',
    { date_range: '12months', metrics: ALL, group_by: ['page:path'], filters: [IN_FRANCE] },
  ],
  'new users': [
    '/v1/analytics/query',
    { date_range: '30days', metrics: ['new_users', 'users'], group_by: ['interval:day'] },
  ],
  retention: ['/v1/analytics/retention', { date_range: '30days', interval: 'day' }],
  export: ['/v1/events/export', { date_range: '30days', fields: ['timestamp', 'path', 'user_id'] }],
}

/** Where to ask. */
export interface Asked {
  readonly address: string
  readonly key: string
}

async function ask(
  { address, key }: Asked,
  [path, body]: readonly [string, object],
): Promise<string> {
  const response = await fetch(`${address}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${response.status} ${text}`)
  return text
}

/** Few, so that they meet each step of a change, also on a busy machine. */
const AT_ONCE = 3

type Responses = Readonly<Record<string, string>>

async function askAll(asked: Asked): Promise<Responses> {
  const texts = await Promise.all(
    Object.entries(QUERIES).map(async ([name, query]) => [name, await ask(asked, query)] as const),
  )
  return Object.fromEntries(texts)
}

/**
 * Asks while a change goes on. Returns how many responses there were, and those that are neither that of before nor that of
 * afterwards.
 */
export async function watchChange(
  asked: Asked,
  change: () => Promise<unknown>,
): Promise<{ asked: number; mixed: unknown[] }> {
  const before = await askAll(asked)
  const given: [name: string, text: string][] = []
  const state = { isOver: false }
  let next = 0
  const asking = Array.from({ length: AT_ONCE }, async () => {
    while (!state.isOver) {
      const [name, query] = Object.entries(QUERIES)[next++ % Object.keys(QUERIES).length]!
      given.push([name, await ask(asked, query)])
    }
  })
  await change().finally(() => (state.isOver = true))
  await Promise.all(asking)
  const after = await askAll(asked)
  const mixed = given.filter(([name, text]) => text !== before[name] && text !== after[name])
  return {
    asked: given.length,
    mixed: mixed.map(([name, text]) => ({ name, text, before: before[name], after: after[name] })),
  }
}
