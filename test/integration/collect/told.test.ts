/** Nothing is left out in silence: the response tells which of the sent events are not counted. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { withLease } from '../../../src/clickhouse/lease/lease.js'
import { readExclusions } from '../../../src/projects/exclusions.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { scaled } from '../../support/effort.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { loadWaiting } from '../../support/store/loading.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { startTestService } from '../../support/world/service.js'
import { newProject, NOW } from '../../support/world/world.js'

let database: TestDatabase
let keys: TestKeys
let service: RunningService
let project: StoredProject
beforeAll(async () => {
  database = await createDatabase()
  keys = await createKeys(database.store)
  service = await startTestService({ store: database.store, now: () => NOW })
})
afterAll(async () => {
  await service.stop()
  await keys.remove()
  await database.drop()
})
beforeEach(async () => {
  project = await newProject(database.store)
})

interface Told {
  readonly accepted: number
  readonly excluded?: { readonly bots: number }
  readonly warnings?: readonly { readonly field: string; readonly message: string }[]
}

/** Sends a body as Node does, which lets a program name another agent. */
async function send(body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${service.address}/v1/events`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Authorization: `Bearer ${project.token}`,
      ...headers,
    },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(202)
  const told = (await response.json()) as Told
  expect(response.headers.get('Tally-Excluded')).toBe(
    told.excluded === undefined ? null : `bots=${told.excluded.bots}`,
  )
  return told
}

/** Loads all that was sent, and counts the events of the project by the API. */
async function count(): Promise<number> {
  const { writer } = database.store
  await withLease(writer, 'loader', () => loadWaiting(writer))
  const response = await fetch(`${service.address}/v1/analytics/query`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Authorization: `Bearer ${await keys.issue(project.id, NOW)}`,
    },
    body: JSON.stringify({ date_range: 'today', metrics: ['pageviews', 'events'] }),
  })
  const { data } = (await response.json()) as {
    readonly data: readonly [{ readonly metrics: { pageviews: number; events: number } }]
  }
  return data[0].metrics.pageviews + data[0].metrics.events
}

/** Counts what the project shows as excluded. */
async function countExcluded(): Promise<number> {
  const days = await readExclusions(database.store.reader, project.id)
  return days.reduce((sum, { bot }) => sum + bot, 0)
}

const WARNING = {
  field: 'user_agent',
  message:
    "is missing, and the User-Agent of the request is a bot's, so the event is not counted; " +
    'send user_id, or the ip and user_agent of the user',
}
const ONE_BOT = { accepted: 1, excluded: { bots: 1 }, warnings: [WARNING] }

/** The agents that these clients send by default. */
const AGENTS = [
  'python-httpx/0.28.1',
  'python-requests/2.32.5',
  'Go-http-client/1.1',
  'Go-http-client/2.0',
  'curl/8.14.1',
]

test('clients that name no user are told so, and nothing of theirs is counted', async () => {
  expect(await send({ name: 'signup' })).toEqual(ONE_BOT)
  for (const agent of AGENTS) {
    expect([agent, await send({ name: 'signup' }, { 'User-Agent': agent })]).toEqual([
      agent,
      ONE_BOT,
    ])
  }
  const { stdout } = await promisify(execFile)('curl', [
    ...['-sS', '-i', `${service.address}/v1/events`, '-d', '{"name":"signup"}'],
    ...['-H', 'Content-Type: application/json', '-H', `Authorization: Bearer ${project.token}`],
  ])
  expect(stdout).toMatch(/^Tally-Excluded: bots=1\r$/m)
  expect(JSON.parse(stdout.split('\r\n\r\n')[1]!)).toEqual(ONE_BOT)

  // What the warning says to send is counted.
  expect(await send({ user_id: 'ada' })).toEqual({ accepted: 1 })
  expect(await send({ ip: '203.0.113.7', user_agent: 'Mozilla/5.0 Firefox/140.0' })).toEqual({
    accepted: 1,
  })
  const sent = AGENTS.length + 4
  expect([await count(), await countExcluded()]).toEqual([2, sent - 2])
})

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

/** What senders send: whether it is counted, if the agent of the request is a browser's or a bot's, from a server or a page. */
interface Kind {
  readonly event: Readonly<Record<string, unknown>>
  readonly isBot: (isBotAgent: boolean, isPage: boolean) => boolean
}
const KINDS: readonly Kind[] = [
  { event: {}, isBot: (isBotAgent) => isBotAgent },
  { event: { name: 'signup', user_id: '' }, isBot: (isBotAgent) => isBotAgent },
  { event: { user_id: 'ada' }, isBot: (isBotAgent, isPage) => isBotAgent && isPage },
  { event: { ip: '203.0.113.7' }, isBot: (isBotAgent, isPage) => isBotAgent && isPage },
  { event: { ip: '203.0.113.7', user_agent: BROWSER }, isBot: () => false },
  { event: { name: 'buy', user_id: 'ada', user_agent: 'Googlebot/2.1' }, isBot: () => true },
  { event: { user_agent: '-' }, isBot: () => true },
]

const request = fc.record({
  agent: fc.constantFrom(...AGENTS, BROWSER),
  isPage: fc.boolean(),
  kinds: fc.array(fc.constantFrom(...KINDS), { minLength: 1, maxLength: 12 }),
})

test('law: counted and told are all that is sent, in batches of every kind', async () => {
  let [sent, told] = [0, 0]
  await fc.assert(
    fc.asyncProperty(request, async ({ agent, isPage, kinds }) => {
      const isBotAgent = agent !== BROWSER
      const isBot = kinds.map((kind) => kind.isBot(isBotAgent, isPage))
      const bots = isBot.filter(Boolean).length
      const fields = kinds.flatMap(({ event }, i) =>
        isBot[i] && !isPage && event['user_agent'] === undefined ? [`${i}.user_agent`] : [],
      )
      const response = await send(
        kinds.map(({ event }) => event),
        { 'User-Agent': agent, ...(isPage && { Origin: 'https://shop.example' }) },
      )
      expect(response).toEqual({
        accepted: kinds.length,
        ...(bots > 0 && { excluded: { bots } }),
        ...(fields.length > 0 && { warnings: fields.map((field) => ({ ...WARNING, field })) }),
      })
      sent += kinds.length
      told += bots
    }),
    { numRuns: scaled(40), endOnFailure: true },
  )
  expect(told).toBeGreaterThan(0)
  expect([await count(), await countExcluded()]).toEqual([sent - told, told])
})
