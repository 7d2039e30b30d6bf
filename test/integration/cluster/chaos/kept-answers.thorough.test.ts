/** A shard whose changes a service cannot read: no answer that was kept before a change is given after it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningService } from '../../../../src/bootstrap/serving/start-service.js'
import { NOTICE_MS } from '../../../../src/changes/timing.js'
import { chooseShard } from '../../../../src/cluster/choose-shard.js'
import type { StoredProject } from '../../../../src/projects/project.js'
import {
  startProxiedCluster,
  type ProxiedCluster,
} from '../../../support/cluster/proxied-cluster.js'
import { newWideProject, sendToShards } from '../../../support/cluster/wide-world.js'
import type { Fault } from '../../../support/faults/byte-proxy.js'
import { createKeys, type TestKeys } from '../../../support/world/keys.js'
import { startTestService } from '../../../support/world/service.js'
import { NOW } from '../../../support/world/world.js'
import { until } from '../../../support/until.js'

let proxied: ProxiedCluster
let keys: TestKeys
let key: string
let service: RunningService
let project: StoredProject
/** The number of events. */
let sent = 0

beforeAll(async () => {
  proxied = await startProxiedCluster()
  const { direct, cluster } = proxied
  const { store } = direct.home
  keys = await createKeys(store)
  project = await newWideProject(direct, direct.shards)
  key = await keys.issue(project.id, NOW)
  await addEvent()
  const env = { ROLE: 'api', QUERY_TIMEOUT_MS: '3000' }
  service = await startTestService({ store, cluster, now: () => NOW, env })
})
afterAll(async () => {
  await service.stop()
  await keys.remove()
  await proxied.stop()
})

/** Adds an event on the second shard, and waits until every service has noticed, if it can. */
async function addEvent(): Promise<void> {
  sent += 1
  const user_id = Array.from({ length: 50 }, (_, i) => `u${sent}-${i}`).find(
    (id) => chooseShard({ user_id: id }, project, NOW) === 1,
  )!
  const timestamp = '2026-03-05T10:00:00Z'
  await sendToShards(proxied.direct, [project], [{ project: project.id, user_id, timestamp }])
  await sleep(NOTICE_MS)
}

/** Returns the number of events, or the code of the error; and whether the answer was a kept one. */
async function ask(date_range: unknown): Promise<{ found: number | string; source: unknown }> {
  const response = await fetch(`${service.address}/v1/analytics/query`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ date_range, metrics: ['pageviews'] }),
  })
  const body = (await response.json()) as {
    error?: { code: string }
    data?: readonly { metrics: { pageviews: number } }[]
  }
  const found = body.error?.code ?? body.data?.[0]?.metrics.pageviews ?? 'no row'
  return { found, source: response.headers.get('tally-cache') }
}

async function askUntilKept(date_range: unknown): Promise<void> {
  for (;;) {
    const { found, source } = await ask(date_range)
    if (source !== 'hit') continue
    expect(found).toBe(sent)
    return
  }
}

const RANGES: readonly unknown[] = [['2026-03-01', '2026-03-31'], 'all']
const ERRORS = ['SERVICE_UNAVAILABLE', 'QUERY_TIMEOUT']

test.each<Fault>([
  { harm: 'cut', direction: 'request', after: 0 },
  { harm: 'reset', direction: 'response', after: 0 },
  { harm: 'cut', direction: 'response', after: 500 },
  { harm: 'hang', direction: 'request', after: 300 },
  { harm: 'hang', direction: 'response', after: 0 },
])('$harm after $after bytes of the $direction', async (fault) => {
  const { http } = proxied
  http.set()
  for (const range of RANGES) await askUntilKept(range)
  http.set(fault)
  await addEvent()
  for (const range of RANGES) expect([sent, ...ERRORS]).toContain((await ask(range)).found)
  http.set()
  // While the shard did not answer, queries of it are refused until it answers a ping.
  await until(async () => (await ask('all')).found === sent)
  for (const range of RANGES) expect((await ask(range)).found).toBe(sent)
})
