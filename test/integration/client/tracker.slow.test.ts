/** The package `@tallyhouse/client` sends events to a service that is killed: each counts once. A process that ends sends what waits. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createTracker, QueueFullError } from '../../../clients/typescript/src/index.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { scaled, thoroughTest } from '../../support/effort.js'
import { compareMarks, listRemainingWork } from '../../support/kills/check.js'
import { killProcesses } from '../../support/kills/processes.js'
import { runService } from '../../support/kills/service.js'
import { until } from '../../support/until.js'
import { newProject } from '../../support/world/world.js'
import { aDataDir } from '../clickhouse/embedded/support.js'

const run = promisify(execFile)
const EVENTS = Math.min(100_000, scaled(10_000))
const KILLS = scaled(3)
/** A port on which nothing listens. */
const NOWHERE = 'http://127.0.0.1:2'

thoroughTest(
  `${EVENTS} events are counted once, though the service is killed ${KILLS} times`,
  async () => {
    const dataDir = await aDataDir()
    const service = runService(dataDir)
    try {
      await until(() => service.address() !== undefined)
      const project = (await service.withCluster(({ home }) => newProject(home.store)))!
      let [requests, kills, failures, full] = [0, 0, 0, 0]
      const tracker = createTracker({
        url: 'http://tallyhouse.example',
        token: project.token,
        timeoutSeconds: 5,
        maxQueueBytes: 100 * EVENTS,
        onError: (_, lost) => {
          failures += 1
          expect(lost).toEqual([])
        },
        // The service has another port after each start. It is killed while it has a request, or when it has stored its events: then
        // the response is lost.
        fetch: async (request) => {
          const url = new URL(new URL(request.url).pathname, service.address() ?? NOWHERE)
          const response = fetch(new Request(url, request))
          response.catch(() => undefined)
          requests += 1
          if (requests % 4 !== 0 || kills === KILLS || service.address() === undefined)
            return response
          const isStored = kills % 2 === 1 && (await response).status === 202
          if (!isStored) await sleep(Math.random() * 30)
          if (service.killService()) kills += 1
          if (isStored) throw new Error('The response is lost.')
          return response
        },
      })
      const marks = new Set<string>()
      for (let n = 0; n < EVENTS; n++) {
        const mark = `m${n}`
        marks.add(mark)
        const event = { user_id: `u${n % 1_000}`, path: `/${n % 50}`, properties: { mark } }
        try {
          tracker.track('made', event)
        } catch (error) {
          if (!(error instanceof QueueFullError)) throw error
          full += 1
          await tracker.flush()
          tracker.track('made', event)
        }
      }
      await tracker.flush()
      await tracker.close()
      await until(async () => (await service.withCluster(listRemainingWork))?.length === 0)
      const compared = await service.withCluster((cluster) =>
        compareMarks(cluster, project.id, { acknowledged: marks, sent: marks }),
      )
      expect(compared).toEqual({
        acknowledged: EVENTS,
        stored: EVENTS,
        lost: [],
        doubled: [],
        unknown: [],
      })
      expect(kills).toBe(KILLS)
      expect([failures >= KILLS, full > 0]).toEqual([true, true])
      expect(service.unexpectedExits).toEqual([])
    } finally {
      await service.stop()
      await killProcesses(dataDir)
    }
  },
)

describe('a process that ends', () => {
  let server: Server
  let users: string[]
  let folder: string
  beforeAll(async () => {
    server = createServer((request, response) => {
      void json(request).then((body) => {
        const events = body as readonly { readonly user_id: string }[]
        users.push(...events.map(({ user_id: user }) => user))
        response.writeHead(202, { 'Content-Type': 'application/json' })
        response.end(JSON.stringify({ accepted: events.length }))
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    folder = await mkdtemp(packagePath('clients/typescript/dist-'))
    await run('node', [packagePath('clients/typescript/build.mjs'), folder])
  })
  afterAll(async () => {
    server.closeAllConnections()
    server.close()
    await rm(folder, { recursive: true })
  })

  const LOST = /^tallyhouse: events are lost \(3\): NO_RESPONSE: .+$/
  const isThere = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const isAway = () => NOWHERE
  test.each<[string, () => string, string, readonly string[], RegExp]>([
    ['by itself sends what waits', isThere, '', ['a', 'b', 'c'], /^$/],
    ['by itself gives up, and tells what is lost', isAway, '', [], LOST],
    ['by process.exit() tells what is lost', isThere, 'process.exit()', [], LOST],
    [
      'after flush() loses nothing',
      isThere,
      'await tracker.flush(); process.exit()',
      ['a', 'b', 'c'],
      /^$/,
    ],
    [
      'after close() loses nothing',
      isThere,
      'await tracker.close(); process.exit()',
      ['a', 'b', 'c'],
      /^$/,
    ],
  ])('%s', async (_, where, end, want, message) => {
    users = []
    const file = path.join(folder, 'program.mjs')
    const options = { url: where(), token: 'tallypub_1', flushSeconds: 600, closeSeconds: 2 }
    await writeFile(
      file,
      `import { createTracker } from './index.js'
       const tracker = createTracker(${JSON.stringify(options)})
       for (const user_id of ['a', 'b', 'c']) tracker.track('end', { user_id })
       ${end}`,
    )
    const { stderr } = await run('node', [file], { env: { ...process.env, NODE_OPTIONS: '' } })
    expect(users).toEqual(want)
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(message)
  })
})
