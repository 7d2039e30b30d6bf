/** Connections between the shards of a query that break at any byte: its answer is whole, or an error. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { RunningService } from '../../../../src/bootstrap/serving/start-service.js'
import {
  startProxiedCluster,
  type ProxiedCluster,
} from '../../../support/cluster/proxied-cluster.js'
import { newWideProject, sendToShards } from '../../../support/cluster/wide-world.js'
import { stride } from '../../../support/effort.js'
import { spreadFaults } from '../../../support/faults/byte-faults.js'
import type { Fault, Passed } from '../../../support/faults/byte-proxy.js'
import { createKeys, type TestKeys } from '../../../support/world/keys.js'
import { startTestService } from '../../../support/world/service.js'
import { NOW } from '../../../support/world/world.js'

const PERIOD = { date_range: ['2026-01-01', '2026-05-31'] }
/** Asked at the same time, so answers could be mixed up, too. */
const QUESTIONS: readonly object[] = [
  { ...PERIOD, metrics: ['users', 'pageviews'], group_by: ['page:path'], limit: 5 },
  { ...PERIOD, metrics: ['bounce_rate', 'visit_duration', 'users'], group_by: ['browser'] },
  {
    ...PERIOD,
    metrics: ['pageviews', 'events'],
    filters: [{ type: 'page:path', value: ['/3'], operator: 'eq' }],
  },
]

let proxied: ProxiedCluster
let keys: TestKeys
let key: string
/** Keep no answers. */
let patient: RunningService
let impatient: RunningService
let whole: readonly Answer[]
/** The bytes of healthy answers to all questions. */
let size: Passed

beforeAll(async () => {
  proxied = await startProxiedCluster()
  const { direct, cluster } = proxied
  const { store } = direct.home
  keys = await createKeys(store)
  const project = await newWideProject(direct, direct.shards)
  key = await keys.issue(project.id, NOW)
  const events = Array.from({ length: 60 }, (_, i) => ({
    project: project.id,
    user_id: `u${i % 40}`,
    path: `/${i % 8}`,
    browser: ['Firefox', 'Safari', 'Opera'][i % 3],
    timestamp: `2026-0${(i % 5) + 1}-03T10:${i % 6}0:00Z`,
  }))
  await sendToShards(direct, [project], events)
  const start = (timeoutMs: number): Promise<RunningService> =>
    startTestService({
      store,
      cluster,
      now: () => NOW,
      env: {
        ROLE: 'api',
        CACHE_MB: '0',
        RATE_LIMIT: '0',
        QUERY_TIMEOUT_MS: String(timeoutMs),
      },
    })
  patient = await start(30_000)
  impatient = await start(400)
  whole = await askAll()
  proxied.native.set()
  expect(await askAll()).toEqual(whole)
  size = proxied.native.passed()
})
afterAll(async () => {
  await Promise.all([patient.stop(), impatient.stop()])
  await keys.remove()
  await proxied.stop()
})

interface Answer {
  readonly status: number
  readonly text: string
}

async function ask({ address }: RunningService, question: object): Promise<Answer> {
  const response = await fetch(`${address}/v1/analytics/query`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(question),
  })
  return { status: response.status, text: await response.text() }
}

const askAll = (service = patient): Promise<readonly Answer[]> =>
  Promise.all(QUESTIONS.map((question) => ask(service, question)))

/** What answers are: `whole`, the code of an error, or the answer itself if it is neither. */
const judge = (answers: readonly Answer[]): readonly string[] =>
  answers.map(({ status, text }, i) => {
    if (status === whole[i]!.status && text === whole[i]!.text) return 'whole'
    const { error } = JSON.parse(text) as { error?: { code: string } }
    return status >= 500 && error !== undefined ? error.code : `PARTIAL ${text}`
  })

/** Asks while connections are harmed, and again without harm. Returns what the answers were. */
async function harm(fault: Fault, service: RunningService): Promise<readonly string[]> {
  const { native } = proxied
  native.set(fault)
  const answers = judge(await askAll(service))
  native.set()
  expect({ fault, healed: judge(await askAll()) }).toEqual({
    fault,
    healed: ['whole', 'whole', 'whole'],
  })
  return answers
}

/** Harms connections in all these ways. Returns how often each outcome was seen. */
async function harmAll(
  faults: readonly Fault[],
  allowed: readonly string[],
  service = patient,
): Promise<ReadonlySet<string>> {
  const seen = new Set<string>()
  for (const [i, fault] of faults.entries()) {
    // Every third time with new connections, whose handshake is harmed, too.
    if (i % 3 === 0) proxied.native.closeAll('cut')
    for (const outcome of await harm(fault, service)) {
      expect({ fault, outcome: allowed.includes(outcome) || outcome }).toEqual({
        fault,
        outcome: true,
      })
      seen.add(outcome)
    }
  }
  return seen
}

const EITHER = ['whole', 'SERVICE_UNAVAILABLE']

/** The bytes of one of the connections. */
const getSize = (): Passed => ({
  request: Math.ceil(size.request / QUESTIONS.length),
  response: Math.ceil(size.response / QUESTIONS.length),
})

describe('the answers are whole or errors, and the next ones are whole', () => {
  test('connections that end at a byte', async () => {
    const faults = spreadFaults(getSize(), ['cut', 'reset'], stride(601))
    expect(await harmAll(faults, EITHER)).toContain('SERVICE_UNAVAILABLE')
  })

  // What a shard is asked has no checksum of its own: that is left to TCP, and to TLS.
  test('answers of a shard that are damaged at a byte', async () => {
    const harms = ['garble', 'drop', 'repeat'] as const
    const faults = spreadFaults(getSize(), harms, stride(1_201), ['response'])
    await harmAll(faults, [...EITHER, 'QUERY_TIMEOUT', 'INTERNAL_ERROR'], impatient)
  })

  test('connections that hang from a byte on', async () => {
    const faults = spreadFaults(getSize(), ['hang'], stride(3_001))
    expect(await harmAll(faults, ['whole', 'QUERY_TIMEOUT'], impatient)).toContain('QUERY_TIMEOUT')
  })

  test('bytes that come one by one', async () => {
    const faults = spreadFaults(getSize(), ['slow'], stride(3_001))
    expect([...(await harmAll(faults, ['whole']))]).toEqual(['whole'])
  })

  test('connections that ended since the last answer', async () => {
    for (const by of ['cut', 'reset', 'cut', 'reset'] as const) {
      proxied.native.closeAll(by)
      expect(judge(await askAll())).toEqual(['whole', 'whole', 'whole'])
    }
  })
})
