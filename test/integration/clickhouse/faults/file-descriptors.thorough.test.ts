/** A service that has no file descriptors left refuses clients, and serves them again once others have left. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import http from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { formatServerUrl } from '../../../support/cli/commands.js'
import { startServe, type ServeProcess } from '../../../support/cli/serve.js'
import { createDatabase, type TestDatabase } from '../../../support/store/database.js'
import { createKeys, type TestKeys } from '../../../support/world/keys.js'
import { newProject } from '../../../support/world/world.js'
import { until } from '../../../support/until.js'

const LIMIT = 256
/** Longer than the service keeps an idle connection to ClickHouse. */
const OCCUPIED_MS = 3_000
const ATTEMPTS = 10

let database: TestDatabase
let keys: TestKeys
let service: ServeProcess
beforeAll(async () => {
  database = await createDatabase()
  keys = await createKeys(database.store)
  service = startServe({
    CLICKHOUSE_URL: formatServerUrl(database.endpoint),
    DATA_DIR: keys.dataDir,
  })
})
afterAll(async () => {
  service.child.kill('SIGKILL')
  await database.drop()
  await keys.remove()
})

/** Opens connections that stay idle, as many as there is room for, until it is told to stop. */
function occupy(port: number): () => void {
  const sockets = new Set<net.Socket>()
  const opening = setInterval(() => {
    for (let n = 0; n < LIMIT / 8; n++) {
      const socket = net.connect(port, '127.0.0.1').on('error', () => undefined)
      sockets.add(socket.on('close', () => sockets.delete(socket)))
    }
  }, 50)
  return () => {
    clearInterval(opening)
    sockets.forEach((socket) => socket.destroy())
  }
}

/** Returns the status of a response; undefined if the connection is closed instead. */
async function get(url: string, key: string, agent: http.Agent): Promise<number | undefined> {
  const headers = { Authorization: `Bearer ${key}` }
  const request = http.get(url, { agent, headers, timeout: 5_000 })
  const [response] = (await once(request, 'response').catch(() => [])) as [http.IncomingMessage?]
  response?.resume()
  return response?.statusCode
}

test(`more connections than the limit of ${LIMIT} file descriptors allows`, async () => {
  const address = await service.listening()
  const { id } = await newProject(database.store)
  const key = await keys.issue(id, new Date())
  const [kept, another] = [
    new http.Agent({ keepAlive: true, maxSockets: 1 }),
    new http.Agent({ keepAlive: false }),
  ]
  const ask = (agent: http.Agent) => get(`${address}/v1/project`, key, agent)
  expect([await ask(kept), await ask(another)]).toEqual([200, 200])

  await promisify(execFile)('prlimit', [`--pid=${service.child.pid}`, `--nofile=${LIMIT}`])
  const release = occupy(Number(new URL(address).port))
  await sleep(OCCUPIED_MS)
  const [old, fresh]: [unknown[], unknown[]] = [[], []]
  for (let i = 0; i < ATTEMPTS; i++) {
    old.push(await ask(kept))
    fresh.push(await ask(another))
  }
  expect((await readdir(`/proc/${service.child.pid}/fd`)).length).toBeGreaterThan(LIMIT - 8)
  // A client that is connected gets an answer, though the service cannot connect to ClickHouse.
  expect(old.filter((status) => status !== 200 && status !== 503)).toEqual([])
  expect(old).toContain(503)
  expect(fresh).toContain(undefined)

  release()
  await until(async () => (await ask(another)) === 200)
  expect([await ask(kept), (await fetch(`${address}/readyz`)).status]).toEqual([200, 200])
  kept.destroy()
  service.child.kill('SIGTERM')
  expect(await service.exit).toBe(0)
  expect(await service.stderr).toBe('')
})
