/**
 * A backend that gives analytics to its customers, from nothing to the end of some of them: it creates a project and a key for each,
 * sends their events, reads a month of each and the overview of all, deletes customers and people, and checks every number.
 *
 *   SERVICE=http://127.0.0.1:8080 ADMIN_KEY=tallyadmin_… npx tsx examples/saas.ts
 *
 * It needs only fetch. Requests are sent again until they succeed: the service may be killed at any moment.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

interface Options {
  /** Returns the URL of the service; undefined while it is away. */
  readonly service: () => string | undefined
  readonly adminKey: string
  /** How many customers there are, of which every tenth leaves. */
  readonly customers: number
  /** How many people are deleted at the end. */
  readonly deletedPeople: number
  /** A name that no other run uses: it begins the ids of the projects, and is the organization of all. */
  readonly run: string
  /** Is called before each step. */
  readonly onStep?: (step: string) => void
}

interface Customer {
  readonly id: string
  readonly token: string
  readonly apiKey: string
  /** The people who visited, each with as many pageviews as the position in the list says, from 1. */
  readonly people: readonly string[]
}

/** How many customers are served at the same time. */
const PARALLEL = 8
const RETRY_MS = 200
/** How long to wait before an operation is asked for again. */
const POLL_MS = 1_000
const PEOPLE = 12

/** Runs the life of a service. @throws AssertionError for the first number that is wrong */
export async function runSaas(options: Options): Promise<void> {
  const { customers: count, onStep = () => undefined } = options
  const send = createSender(options)

  onStep('create customers')
  const numbers = Array.from({ length: count }, (_, i) => i)
  const customers = await inParallel(numbers, (number) => createCustomer(options, send, number))

  onStep('send events')
  await inParallel(customers, (customer) => sendVisits(send, customer))
  await waitUntilCounted(options, send)

  onStep('read a month of each')
  await inParallel(customers, async (customer) => {
    const { data } = await query(send, customer)
    const { people } = customer
    assert.deepEqual(data[0]?.metrics, { users: people.length, pageviews: countViews(people) })
  })

  onStep('read the overview')
  const overview = await readOverview(options, send)
  assert.deepEqual(
    overview,
    new Map(customers.map(({ id, people }) => [id, [people.length, countViews(people)]])),
  )

  onStep('delete people')
  const left = await deletePeople(options, send, customers)
  await inParallel(left, async (customer) => {
    const { data } = await query(send, customer)
    assert.equal(data[0]?.metrics['users'], customer.people.length)
  })

  onStep('delete customers')
  const leaving = left.filter((_, i) => i % 10 === 9)
  await inParallel(leaving, ({ id }) => deleteCustomer(send, id))
  const remaining = await readOverview(options, send)
  assert.deepEqual(
    [...remaining.keys()].sort(),
    left.flatMap(({ id }, i) => (i % 10 === 9 ? [] : [id])).sort(),
  )

  onStep('read usage')
  // Deleting people and customers does not change what was counted.
  const sent = new Map(customers.map(({ id, people }) => [id, countViews(people)]))
  const usage = await readUsage(options, send)
  assert.deepEqual(new Map(usage.map(({ project, counted }) => [project, counted])), sent)
  for (const { accepted, counted, repeated } of usage) assert.equal(accepted, counted + repeated)
}

const countViews = (people: readonly string[]): number => (people.length * (people.length + 1)) / 2

interface Request {
  readonly method?: string
  readonly path: string
  readonly body?: unknown
  readonly key?: string
  /** A request with a key runs once, however often it is sent. */
  readonly idempotencyKey?: string
}

interface Sent {
  readonly status: number
  readonly body: unknown
}

type Send = (request: Request) => Promise<Sent>

/** Sends a request, again and again while the service is away. Any other error ends the program. */
const createSender =
  ({ service, adminKey }: Options): Send =>
  async ({ method = 'GET', path, body, key = adminKey, idempotencyKey }) => {
    for (;;) {
      const address = service()
      const sent =
        address === undefined
          ? undefined
          : await fetch(address + path, {
              method,
              headers: {
                Authorization: `Bearer ${key}`,
                ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
                ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
              },
              ...(body === undefined ? {} : { body: JSON.stringify(body) }),
            })
              .then(async (response): Promise<Sent> => {
                const text = await response.text()
                const parsed: unknown = text === '' ? undefined : JSON.parse(text)
                return { status: response.status, body: parsed }
              })
              .catch(() => undefined)
      // 409: the first request with this Idempotency-Key may still run.
      const isPending = sent?.status === 409 && idempotencyKey !== undefined
      if (sent !== undefined && sent.status < 500 && sent.status !== 429 && !isPending) return sent
      await sleep(RETRY_MS)
    }
  }

async function createCustomer({ run }: Options, send: Send, number: number): Promise<Customer> {
  const id = `${run}-${number}`
  const settings = { name: `Customer ${number}`, domain: 'shop.example', org: run }
  // PUT is repeatable: the project is the same, however often it is sent.
  const created = await send({ method: 'PUT', path: `/v1/projects/${id}`, body: settings })
  assert.ok(created.status === 201 || created.status === 200, JSON.stringify(created.body))
  const issued = await send({
    method: 'POST',
    path: `/v1/projects/${id}/keys`,
    body: { name: 'dashboard' },
    idempotencyKey: `key-${id}`,
  })
  assert.equal(issued.status, 201, JSON.stringify(issued.body))
  return {
    id,
    token: (created.body as { token: string }).token,
    apiKey: (issued.body as { secret: string }).secret,
    people: Array.from({ length: 1 + (number % PEOPLE) }, (_, i) => `person-${i + 1}`),
  }
}

/** Sends the visits of a customer. Events have ids, so that each counts once. */
async function sendVisits(send: Send, { token, people }: Customer): Promise<void> {
  const events = people.flatMap((user_id, i) =>
    Array.from({ length: i + 1 }, () => ({
      event_id: randomUUID(),
      name: 'pageview',
      user_id,
      url: 'https://shop.example/',
    })),
  )
  const sent = await send({ method: 'POST', path: '/v1/events', key: token, body: events })
  assert.equal(sent.status, 202, JSON.stringify(sent.body))
}

interface UsageRow {
  readonly project: string
  readonly accepted: number
  readonly counted: number
  readonly repeated: number
  readonly waiting: number
}

/** Reads the usage of all customers of this month and the one before: the month may have ended meanwhile. */
async function readUsage({ run }: Options, send: Send): Promise<readonly UsageRow[]> {
  const from = new Date(Date.now() - 24 * 60 * 60 * 1000).toISOString().slice(0, 10)
  const rows = new Map<string, UsageRow>()
  for (let cursor = ''; ;) {
    const { status, body } = await send({
      path: `/v1/usage?org=${run}&from=${from}&limit=200${cursor}`,
    })
    assert.equal(status, 200, JSON.stringify(body))
    const page = body as { usage: UsageRow[]; nextCursor: string | null }
    for (const row of page.usage) {
      const known = rows.get(row.project)
      rows.set(row.project, known === undefined ? row : addRows(known, row))
    }
    if (page.nextCursor === null) return [...rows.values()]
    cursor = `&cursor=${page.nextCursor}`
  }
}

const addRows = (one: UsageRow, other: UsageRow): UsageRow => ({
  project: one.project,
  accepted: one.accepted + other.accepted,
  counted: one.counted + other.counted,
  repeated: one.repeated + other.repeated,
  waiting: one.waiting + other.waiting,
})

async function waitUntilCounted(options: Options, send: Send): Promise<void> {
  for (;;) {
    const rows = await readUsage(options, send)
    const isCounted = rows.length >= options.customers && rows.every(({ waiting }) => waiting === 0)
    if (isCounted) return
    await sleep(RETRY_MS)
  }
}

interface Answer {
  readonly data: readonly { readonly metrics: Readonly<Record<string, number>> }[]
}

async function query(send: Send, { apiKey }: Customer): Promise<Answer> {
  const { status, body } = await send({
    method: 'POST',
    path: '/v1/analytics/query',
    key: apiKey,
    body: { date_range: '30days', metrics: ['users', 'pageviews'] },
  })
  assert.equal(status, 200, JSON.stringify(body))
  return body as Answer
}

/** Reads users and pageviews of all customers, by their ids. */
async function readOverview(
  { run }: Options,
  send: Send,
): Promise<ReadonlyMap<string, readonly [number, number]>> {
  const { status, body } = await send({
    method: 'POST',
    path: '/v1/analytics/projects',
    body: { org: run, date_range: '30days', metrics: ['users', 'pageviews'], limit: 1000 },
  })
  assert.equal(status, 200, JSON.stringify(body))
  const { data } = body as {
    data: { project: string; metrics: { users: number; pageviews: number } }[]
  }
  return new Map(data.map(({ project, metrics }) => [project, [metrics.users, metrics.pageviews]]))
}

/** Deletes people, as many of each customer as possible but one. Returns the customers with those who are left. */
async function deletePeople(
  { deletedPeople }: Options,
  send: Send,
  customers: readonly Customer[],
): Promise<readonly Customer[]> {
  let wanted = deletedPeople
  const plans = customers.map((customer) => {
    const userIds = customer.people.slice(0, Math.min(wanted, customer.people.length - 1))
    wanted -= userIds.length
    return { customer, userIds }
  })
  return inParallel(plans, async ({ customer, userIds }) => {
    if (userIds.length === 0) return customer
    const begun = await send({
      method: 'POST',
      path: `/v1/projects/${customer.id}/users/delete`,
      body: { userIds },
      idempotencyKey: `delete-${customer.id}`,
    })
    assert.equal(begun.status, 202, JSON.stringify(begun.body))
    await waitForEnd(send, begun.body)
    return { ...customer, people: customer.people.slice(userIds.length) }
  })
}

async function deleteCustomer(send: Send, id: string): Promise<void> {
  const begun = await send({ method: 'DELETE', path: `/v1/projects/${id}` })
  // A request that was sent again may find the deletion begun, or ended.
  if (begun.status === 202) await waitForEnd(send, begun.body)
  else assert.ok(begun.status === 409 || begun.status === 404, JSON.stringify(begun.body))
  for (;;) {
    const { status } = await send({ path: `/v1/projects/${id}` })
    if (status === 404) return
    await sleep(RETRY_MS)
  }
}

/** Waits until an operation is done. */
async function waitForEnd(send: Send, begun: unknown): Promise<void> {
  const { id } = begun as { id: string }
  for (;;) {
    const { body } = await send({ path: `/v1/operations/${id}` })
    const { state, error } = body as { state: string; error: string | null }
    assert.notEqual(state, 'failed', error ?? '')
    if (state === 'done') return
    await sleep(POLL_MS)
  }
}

/** Does work for each item, a few at a time. Returns the results in the order of the items. */
async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const entries = items.entries()
  const workers = Array.from({ length: PARALLEL }, async () => {
    for (const [i, item] of entries) results[i] = await work(item)
  })
  await Promise.all(workers)
  return results
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { SERVICE = 'http://127.0.0.1:8080', ADMIN_KEY = '', CUSTOMERS = '500' } = process.env
  const begun = performance.now()
  await runSaas({
    service: () => SERVICE,
    adminKey: ADMIN_KEY,
    customers: Number(CUSTOMERS),
    deletedPeople: 1_000,
    run: `saas-${Date.now()}`,
    onStep: (step) => {
      const seconds = ((performance.now() - begun) / 1000).toFixed(1)
      console.log(`${seconds.padStart(7)} s  ${step}`)
    },
  })
  console.log('every number is right')
}
