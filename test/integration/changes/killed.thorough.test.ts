/**
 * Every response is of one state of the data, also if the service, an engine or the command that changes the data is killed in the
 * middle. What was announced is then finished by the next process, or was never visible.
 */
import { expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../../src/demo/random.js'
import { DAY_MS } from '../../../src/lib/time.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { newWideProject } from '../../support/cluster/wide-world.js'
import { runCli } from '../../support/cli/cli.js'
import { scaled } from '../../support/effort.js'
import { listRemainingWork } from '../../support/kills/check.js'
import { killProcesses } from '../../support/kills/processes.js'
import { createEnv, runService } from '../../support/kills/service.js'
import { until } from '../../support/until.js'
import { watchChange } from '../../support/world/one-moment.js'
import { aDataDir } from '../clickhouse/embedded/support.js'

/** For 40 kills, run it with TEST_EFFORT=5. */
const KILLS = scaled(8)
const TIMEOUT_MS = 600_000 + KILLS * 60_000
const SEED = Number(process.env['KILLS_SEED'] ?? Math.floor(Math.random() * 1e9))

/** The moment that all days count back from: the service has the clock of the machine. */
const NOW = Date.now()
const USERS = 60
/** How many days have events. The first ones expire, one after the other, and these never. */
const DAYS = 24
const KEPT_DAYS = 9
/** From the beginning of a change to the kill, at most: the commands start within this time. */
const MAX_PAUSE_MS = 3_000

const getDay = (daysAgo: number): string =>
  new Date(NOW - daysAgo * DAY_MS).toISOString().slice(0, 10)

/** @param days how many days ago the late ones are at most: of days that have expired, they would go again with the next expiration */
const createEvents = (count: number, seed: number, days: number, user: (n: number) => number) =>
  Array.from({ length: count }, (_, i) => {
    const n = i * 13 + seed
    return {
      name: 'pageview',
      user_id: `u${user(n)}`,
      url: `https://shop.example/page/${n % 7}`,
      country: ['DE', 'FR', 'BA'][n % 3],
      // A third of them lies days before the others of their users.
      timestamp: new Date(
        NOW - (1 + (n % 3 === 0 ? n % days : n % 2)) * DAY_MS - (n % 97) * 60_000,
      ).toISOString(),
    }
  })

/** A deletion fails without a kill, too: there may be no such user. */
const ATTEMPTS = 4

/** What is killed while the data changes. A load is done by the service itself. */
const VICTIMS = ['service', 'engine', 'command'] as const

test.each([1, 3])(
  'on %d shards',
  async (shards) => {
    const dataDir = await aDataDir()
    const env = createEnv(dataDir, shards)
    const service = runService(dataDir, shards)
    const random = createRandom(SEED)
    let asked = 0
    try {
      await until(() => service.address() !== undefined)
      const { id, token } = (await service.withCluster((cluster) =>
        newWideProject(cluster, cluster.shards),
      ))!
      const issued = await runCli(['key', 'issue', '--project', id, '--scope', 'read,export'], env)
      const key = issued.stdout.trim()

      const send = async (events: readonly object[]): Promise<void> => {
        await fetch(`${service.address()}/v1/events`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
          body: JSON.stringify(events),
        }).catch(() => undefined)
      }
      const settle = async (): Promise<void> => {
        await until(async () => (await service.withCluster(listRemainingWork))?.length === 0)
      }
      await send(createEvents(800, 0, DAYS, (n) => n % USERS))
      await settle()

      /** Runs a command, and kills it when the signal aborts. Returns its exit code. */
      const runOnce = async (signal: AbortSignal, args: readonly string[]): Promise<unknown> => {
        const child = spawn(process.execPath, [packagePath('dist/cli.js'), ...args], {
          env,
          stdio: 'ignore',
        })
        const kill = () => child.kill('SIGKILL')
        signal.addEventListener('abort', kill, { once: true })
        const [code] = (await once(child, 'close')) as [unknown]
        signal.removeEventListener('abort', kill)
        return code
      }
      /** Repeats a command that was killed, or lost the engine, so that one change is done in the end. */
      const run = async (signal: AbortSignal, ...args: string[]): Promise<void> => {
        for (let n = 0; n < ATTEMPTS; n++) if ((await runOnce(signal, args)) === 0) return
      }
      const project = ['--project', id]
      const CHANGES = [
        // On several shards each load is a change of its own, so one shard gets them all.
        (n: number) => send(createEvents(40, n * 1_009, KEPT_DAYS, () => n % USERS)),
        (n: number, signal: AbortSignal) =>
          run(
            signal,
            'user',
            'delete',
            ...project,
            `u${(n * 7) % USERS}`,
            `u${(n * 11) % USERS}`,
            '--yes',
          ),
        (n: number, signal: AbortSignal) =>
          run(
            signal,
            'project',
            'update',
            id,
            '--keep-days',
            `${DAYS - Math.floor(n / 4)}`,
            '--force',
          ),
        (_n: number, signal: AbortSignal) => run(signal, 'rollups', 'rebuild', ...project),
      ]

      for (let n = 0; n < KILLS; n++) {
        const victim = VICTIMS[random.below(n % CHANGES.length === 0 ? 2 : VICTIMS.length)]!
        const ending = new AbortController()
        const kill = async (): Promise<void> => {
          await sleep(random.below(MAX_PAUSE_MS))
          if (victim === 'service') service.killService()
          else if (victim === 'engine') await service.killEngine(random.below(shards))
          else ending.abort()
        }
        const change = async (): Promise<void> => {
          await Promise.all([CHANGES[n % CHANGES.length]!(n, ending.signal), kill()])
          await settle()
        }
        const dates = [getDay(DAYS + 2), getDay(1)] as const
        const found = await watchChange(
          { address: service.address, key, dates, isKilled: true },
          change,
        )
        expect({ seed: SEED, n, victim, mixed: found.mixed }).toMatchObject({ mixed: [] })
        asked += found.asked
      }
      console.info(`${shards} shards, ${KILLS} kills: ${asked} responses`)
    } finally {
      await service.stop()
      await killProcesses(dataDir)
    }
    expect(service.unexpectedExits).toEqual([])
  },
  TIMEOUT_MS,
)
