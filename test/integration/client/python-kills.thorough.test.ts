/** The tracker of the Python client sends events while the service is killed: each counts once. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { withLease } from '../../../src/clickhouse/lease/lease.js'
import { sql } from '../../../src/clickhouse/sql.js'
import { formatServerUrl } from '../../support/cli/commands.js'
import { startServe, type ServeProcess } from '../../support/cli/serve.js'
import { scaled } from '../../support/effort.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { select } from '../../support/store/facts.js'
import { loadWaiting } from '../../support/store/loading.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { newProject } from '../../support/world/world.js'
import { describeWithPython, HOME } from './python.js'

const EVENTS = Math.min(100_000, scaled(20_000))
const KILLS = scaled(5)

/** Tracks events as fast as they are taken, within a small queue, so that what is printed is about what is stored. */
const PROGRAM = `
import sys
from tallyhouse import QueueFullError, Tracker

lost = []
tracker = Tracker(
    sys.argv[1],
    sys.argv[2],
    max_queue_bytes=1_000_000,
    on_error=lambda error, events: lost.append((str(error), len(events))),
)
for n in range(int(sys.argv[3])):
    while True:
        try:
            tracker.track({"name": "paid", "user_id": f"u{n}", "properties": {"n": n}})
            break
        except QueueFullError:
            tracker.flush()
    print(n + 1, flush=True)
tracker.flush()
print("lost", lost, flush=True)
`

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

describeWithPython('the tracker of clients/python', ['httpx'], (_, python) => {
  test(`${EVENTS} events are sent while the service is killed ${KILLS} times: all count, once`, async () => {
    const { store, endpoint } = database
    const { token } = await newProject(store)
    const env = { CLICKHOUSE_URL: formatServerUrl(endpoint), DATA_DIR: keys.dataDir }
    let service: ServeProcess = startServe(env)
    const address = await service.listening()
    const args = ['-c', PROGRAM, address, token, String(EVENTS)]
    const sender = spawn(python, args, {
      env: { ...process.env, PYTHONPATH: `${HOME}/src`, PYTHONDONTWRITEBYTECODE: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = once(sender, 'close')
    const log = text(sender.stderr)
    let kills = 0
    let last = ''
    try {
      for await (const line of createInterface({ input: sender.stdout })) {
        last = line
        if (kills === KILLS || Number(line) <= ((kills + 1) * EVENTS) / (KILLS + 1)) continue
        kills += 1
        service.child.kill('SIGKILL')
        await service.exit
        service = startServe({ ...env, PORT: new URL(address).port })
      }
      expect([await ended, last, kills]).toEqual([[0, null], 'lost []', KILLS])
      expect((await log).match(/^Sending \d+ events again/gm)?.length).toBeGreaterThanOrEqual(KILLS)
    } finally {
      sender.kill('SIGKILL')
      service.child.kill('SIGTERM')
      await service.exit
    }
    await withLease(store.writer, 'loader', () => loadWaiting(store.writer))
    const counted = sql`SELECT toUInt32(count()) AS events, toUInt32(uniqExact(user)) AS users FROM events`
    expect(await select(store, counted)).toEqual([{ events: EVENTS, users: EVENTS }])
  })
})
