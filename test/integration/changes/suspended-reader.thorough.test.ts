/** A service is suspended while it answers from memory: a query that is sent after a load gets no response from before it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLoaderContext } from '../../../src/bootstrap/open-store.js'
import { createRandom } from '../../../src/demo/random.js'
import { importEvents } from '../../../src/ingest/import/import-events.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { ARRIVAL, createWorld, NOW } from '../../support/world/world.js'

const ROUNDS = 8
const CLIENTS = 4
const TODAY = { date_range: ['2026-06-15', '2026-06-15'], metrics: ['pageviews'] }
const SCRIPT = packagePath('test/support/kills/asking-process.ts')

let database: TestDatabase
let keys: TestKeys

beforeAll(async () => {
  database = await createDatabase()
  keys = await createKeys(database.store)
})
afterAll(async () => {
  await keys.remove()
  await database.drop()
})

const event = (n: number) => ({ user_id: `u${n}`, path: '/', timestamp: '2026-06-15T10:00:00Z' })

/** Loads an event, as the command does: it waits until services have noticed the change. */
async function load(projectId: string, n: number): Promise<void> {
  async function* source(): AsyncGenerator<Buffer> {
    yield await Promise.resolve(Buffer.from(JSON.stringify(event(n))))
  }
  await importEvents(database.store, source(), {
    now: ARRIVAL,
    identity: `event ${n}`,
    projectId,
    loader: createLoaderContext(36_500),
    onRejected: () => undefined,
  })
}

test('the answer to a question that is put after a load counts its events', async () => {
  const project = await createWorld(database.store, [event(0)])
  const key = await keys.issue(project.id, NOW)
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', SCRIPT, JSON.stringify(database.endpoint)],
    { cwd: packagePath('.'), stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const closed = once(child, 'close')
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const ask = async () => {
      const response = await fetch(`${line.toString().trim()}/v1/analytics/query`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(TODAY),
      })
      // What was looked up when the process was suspended for long is refused: that is no answer.
      if (response.status === 503) return undefined
      const body = (await response.json()) as { data: [{ metrics: { pageviews: number } }] }
      const counted = body.data[0].metrics.pageviews
      return { counted, source: response.headers.get('tally-cache') }
    }
    const random = createRandom(1)
    const found = { loaded: 1, hits: 0, asked: 0, old: [] as unknown[] }
    let isOn = true
    /** Asks all the time. What was loaded before a question is in its answer. */
    const askOn = async (): Promise<void> => {
      while (isOn) {
        const { loaded } = found
        const answer = await ask()
        found.asked++
        if (answer?.source === 'hit') found.hits++
        if (answer !== undefined && answer.counted < loaded) found.old.push({ loaded, ...answer })
      }
    }
    const asking = Array.from({ length: CLIENTS }, askOn)
    for (let n = 1; n <= ROUNDS; n++) {
      await sleep(300 + random.below(200))
      child.kill('SIGSTOP')
      await load(project.id, n)
      found.loaded++
      // These wait in its sockets.
      asking.push(
        ...Array.from({ length: CLIENTS }, async () => {
          const answer = await ask()
          if (answer !== undefined && answer.counted < n + 1) {
            found.old.push({ loaded: n + 1, ...answer })
          }
        }),
      )
      await sleep(50)
      child.kill('SIGCONT')
    }
    isOn = false
    await Promise.all(asking)
    expect(found.old).toEqual([])
    expect(found.hits).toBeGreaterThan(ROUNDS)
  } finally {
    child.kill('SIGKILL')
    await closed
  }
})
