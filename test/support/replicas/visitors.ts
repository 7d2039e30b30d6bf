/** Visitors of a service over replicas: some send events, one queries their number, and all remember when they were answered. */
import { setTimeout as sleep } from 'node:timers/promises'

export interface VisitorsOptions {
  /** The addresses of the services, which are asked in turn. */
  readonly addresses: readonly string[]
  readonly publicToken: string
  readonly key: string
  /** Requests per second with an event each. */
  readonly rate: number
  /** Starts the ids of the events; `v` by default. */
  readonly name?: string
}

/** What visitors saw. The times are of `performance.now()`, ascending. */
export interface Seen {
  /** When responses with status 202 came. */
  readonly accepted: readonly number[]
  /** When queries were answered. */
  readonly answered: readonly number[]
  /** When a response had more events than each before. */
  readonly loaded: readonly number[]
  /** Requests by what became of them: a status, or why there was none. Those of queries start with `query`. */
  readonly outcomes: Readonly<Record<string, number>>
  /** Requests that failed, and again when they were repeated once, as long after as `Retry-After` says. */
  readonly failedTwice: readonly string[]
  /** Responses with fewer events than one that had come before they were asked for. */
  readonly older: readonly string[]
  /** Responses with status 503 that did not say when to try again. */
  readonly withoutAdvice: readonly string[]
  /** The ids of the events that were accepted, and of all that were sent. */
  readonly acknowledged: ReadonlySet<string>
  readonly sent: ReadonlySet<string>
}

export interface Visitors extends Seen {
  /** Resolves once no request is in flight. */
  readonly stop: () => Promise<void>
}

const QUERY_PAUSE_MS = 100
const RESPONSE_MS = 10_000

/** Sends events with ids and queries until it is stopped. An event that was not accepted is sent once more. */
export function visit({
  addresses,
  publicToken,
  key,
  rate,
  name: start = 'v',
}: VisitorsOptions): Visitors {
  const [accepted, answered, loaded]: [number[], number[], number[]] = [[], [], []]
  const [failedTwice, older, withoutAdvice]: [string[], string[], string[]] = [[], [], []]
  const [acknowledged, sent] = [new Set<string>(), new Set<string>()]
  const outcomes: Record<string, number> = {}
  const begun = performance.now()
  let isOn = true
  let most = 0

  const choose = (n: number): string => addresses[n % addresses.length]!
  const send = async (
    url: string,
    token: string,
    body: object,
    name = '',
  ): Promise<Response | undefined> => {
    const found = await fetch(url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(RESPONSE_MS),
    }).catch((error: unknown) => (error as Error).name)
    const outcome = `${name}${typeof found === 'string' ? found : found.status}`
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    if (typeof found === 'string') return undefined
    if (found.status === 503 && found.headers.get('Retry-After') === null) {
      withoutAdvice.push(`${outcome} ${await found.text()}`)
    }
    return found
  }
  /** Sends a request, and once more if it fails. Returns the response that was good. */
  const insist = async (request: () => Promise<Response | undefined>, name: string) => {
    const first = await request()
    if (first?.ok === true) return first
    await sleep(1_000 * Number(first?.headers.get('Retry-After') ?? 1))
    const second = await request()
    if (second?.ok === true) return second
    const ms = Math.round(performance.now() - begun)
    failedTwice.push(`${name} at ${ms} ms: ${second?.status ?? 'no response'}`)
    return undefined
  }
  const sendEvent = async (n: number): Promise<void> => {
    const event = { event_id: `${start}${n}`, user_id: `v${n % 500}`, path: `/${n % 50}` }
    const body = { ...event, properties: { mark: `${start}${n}` } }
    sent.add(`${start}${n}`)
    const url = `${choose(n)}/v1/events`
    if ((await insist(() => send(url, publicToken, body), 'an event')) === undefined) return
    accepted.push(performance.now())
    acknowledged.add(`${start}${n}`)
  }
  const sendEvents = async (): Promise<void> => {
    const pending = new Set<Promise<void>>()
    for (let n = 0; isOn; n += 1) {
      const due = begun + (n * 1_000) / rate
      if (due > performance.now()) await sleep(due - performance.now())
      const one = sendEvent(n).finally(() => pending.delete(one))
      pending.add(one)
    }
    await Promise.all(pending)
  }
  const query = async (url: string): Promise<void> => {
    const atLeast = most
    const body = { metrics: ['pageviews'], date_range: 'today' }
    const response = await insist(() => send(url, key, body, 'query '), 'a query')
    if (response === undefined) return
    const now = performance.now()
    answered.push(now)
    const { data } = (await response.json()) as { data: [{ metrics: { pageviews: number } }] }
    const { pageviews } = data[0].metrics
    if (pageviews < atLeast)
      older.push(`${pageviews} after ${atLeast} at ${Math.round(now - begun)} ms`)
    if (pageviews > most) loaded.push(now)
    most = Math.max(most, pageviews)
  }
  const sendQueries = async (): Promise<void> => {
    for (let n = 0; isOn; n += 1) {
      await query(`${choose(n)}/v1/analytics/query`)
      await sleep(QUERY_PAUSE_MS)
    }
  }
  const ended = Promise.all([sendEvents(), sendQueries()])
  return {
    ...{ accepted, answered, loaded, outcomes, failedTwice, older, withoutAdvice },
    ...{ acknowledged, sent },
    stop: async () => {
      isOn = false
      await ended
    },
  }
}

/** Returns the longest time between two of `times` that begins between `from` and `to`, in milliseconds. */
export function findLongestGap(times: readonly number[], from: number, to: number): number {
  const gaps = times.flatMap((at, i) => {
    const next = times[i + 1] ?? to
    return next > from && at < to ? [next - Math.max(at, from)] : []
  })
  return Math.max(0, ...gaps)
}
