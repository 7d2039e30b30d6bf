/**
 * Every response is of one state of the data, whatever changes: the law of `one-moment`, on one shard and on three, with as many
 * responses during each kind of change as there is time for.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createLoaderContext } from '../../../src/bootstrap/open-store.js'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import type { Shard } from '../../../src/cluster/cluster.js'
import { markCut } from '../../../src/cluster/directory.js'
import { deleteUsersFromShards } from '../../../src/deletion/delete-users.js'
import { forceExpiration } from '../../../src/deletion/expire-projects.js'
import { createShardContext } from '../../../src/deletion/shard-context.js'
import type { LoaderContext } from '../../../src/ingest/loader/loader-context.js'
import { createLogger } from '../../../src/lib/log.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { requireProject } from '../../../src/projects/store.js'
import { moveProject, widenProject } from '../../../src/relocation/relocate.js'
import { startCluster, type TestCluster } from '../../support/cluster/cluster.js'
import { newWideProject, sendToShards } from '../../support/cluster/wide-world.js'
import { scaled } from '../../support/effort.js'
import { agreeOn } from '../../support/store/clocks.js'
import { rebuildRollups } from '../../support/store/loading.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { watchChange, type Asked, type Watched } from '../../support/world/one-moment.js'
import { startTestService } from '../../support/world/service.js'
import { NOW, type SentEvent } from '../../support/world/world.js'

/** How many responses are wanted during each kind of change. */
const ANSWERS = scaled(200)
const TIMEOUT_MS = 300_000 + ANSWERS * 1_000

const DAY = 24 * 60 * 60 * 1000
const USERS = 90

const createEvent = (n: number, daysAgo: number): SentEvent => ({
  user_id: `u${n % USERS}`,
  path: `/page/${n % 7}`,
  country: ['DE', 'FR', 'BA'][n % 3],
  browser: n % 2 === 0 ? 'Firefox' : 'Chrome',
  timestamp: new Date(NOW.getTime() - daysAgo * DAY - (n % 97) * 601_000).toISOString(),
})

const createEvents = (count: number, seed: number, getDaysAgo: (n: number) => number) =>
  Array.from({ length: count }, (_, n) => createEvent(n * 13 + seed, getDaysAgo(n)))

/** A third of them lies days before the others of their users. */
const createLoad = (seed: number) => createEvents(40, seed, (n) => (n % 3 === 0 ? 9 : 0))
const createYears = (seed: number) => createEvents(300, seed, (n) => 40 + n * 6)

/** Asks all services while a change goes on. */
async function watchAll(
  [first, ...others]: readonly Asked[],
  change: () => Promise<unknown>,
): Promise<Watched> {
  if (first === undefined) {
    await change()
    return { asked: 0, mixed: [] }
  }
  let rest: Watched = { asked: 0, mixed: [] }
  const found = await watchChange(first, async () => (rest = await watchAll(others, change)))
  return { asked: found.asked + rest.asked, mixed: [...found.mixed, ...rest.mixed] }
}

describe.each([1, 3])('on %i shards', (width) => {
  let cluster: TestCluster
  let keys: TestKeys
  /** One keeps no responses, so that each is computed; the other one gives each again as long as it is right. */
  let services: readonly RunningService[]
  /** Lives on all shards. */
  let project: StoredProject
  let seed = 0

  beforeAll(async () => {
    cluster = await startCluster(width)
    const { store } = cluster.home
    keys = await createKeys(store)
    const start = (cacheMb: string) =>
      startTestService({
        store,
        ...(width === 1 ? {} : { cluster }),
        now: () => NOW,
        env: { CACHE_MB: cacheMb, RATE_LIMIT: '0' },
      })
    services = [await start('0'), await start('64')]
    project = await newWideProject(cluster, width === 1 ? [] : cluster.shards)
    await fill(
      project,
      createEvents(600, 0, (n) => n % 20),
    )
  })
  afterAll(async () => {
    for (const service of services) await service.stop()
    await keys.remove()
    await cluster.stop()
  })

  const fill = ({ id }: StoredProject, events: readonly SentEvent[]): Promise<void> =>
    requireProject(cluster.home.store.writer, id).then((found) =>
      sendToShards(
        cluster,
        [width === 1 ? { ...found, shards: [cluster.home.name] } : found],
        toOwn(events, id),
      ),
    )
  const toOwn = (events: readonly SentEvent[], id: string) =>
    events.map((event) => ({ ...event, project: id }))

  /** As in a service: changes wait until services have noticed them. */
  const getContext = (shard: Shard): LoaderContext => {
    const context = createLoaderContext(36_500)
    return width === 1 ? context : createShardContext(cluster, shard, context)
  }

  const deleteUsers = (users: readonly string[]): Promise<unknown> =>
    deleteUsersFromShards(
      cluster.shards.map((shard) => ({ ...shard, loader: getContext(shard) })),
      project.id,
      users,
      { check: () => Promise.resolve() },
    )

  const expireYears = async (): Promise<void> => {
    const stores = cluster.shards.map((shard) => ({
      store: shard.store,
      context: getContext(shard),
    }))
    const options = {
      logger: createLogger('silent'),
      markCut: (id: string) => markCut(cluster, id),
      waitMs: 1_000,
    }
    await forceExpiration(options, stores, { ...project, keepDays: 30 }, [agreeOn(NOW)])
  }

  const relocation = () => ({ cluster, getContext, now: () => NOW })

  /** Creates a project on the first shard, which the change moves or widens. */
  async function createNarrow(): Promise<StoredProject> {
    const created = await newWideProject(cluster, [cluster.shards[0]])
    await fill(
      created,
      createEvents(400, seed, (n) => n % 20),
    )
    return created
  }

  interface Kind {
    readonly name: string
    readonly needsShards?: true
    /** Prepares the change. Returns what changes, and of which project. */
    readonly prepare: () => Promise<{
      readonly change: () => Promise<unknown>
      readonly of?: StoredProject
    }>
  }

  const KINDS: readonly Kind[] = [
    {
      name: 'events are loaded, a third of them late',
      prepare: () =>
        Promise.resolve({
          // On several shards each load is a change of its own, so one shard gets them all.
          change: () =>
            fill(
              project,
              createLoad(seed).map((event) => ({ ...event, user_id: 'u1' })),
            ),
        }),
    },
    {
      name: 'a user is deleted',
      prepare: async () => {
        await fill(project, createLoad(seed))
        return { change: () => deleteUsers([`u${seed % USERS}`]) }
      },
    },
    {
      name: 'many users are deleted, on all shards',
      prepare: async () => {
        await fill(
          project,
          createEvents(600, seed, (n) => n % 20),
        )
        return {
          change: () => deleteUsers(Array.from({ length: USERS / 3 }, (_, n) => `u${n * 3}`)),
        }
      },
    },
    {
      name: 'five years expire',
      prepare: async () => {
        await fill(project, createYears(seed))
        return { change: expireYears }
      },
    },
    {
      name: 'rollups are rebuilt',
      prepare: () =>
        Promise.resolve({
          change: async () => {
            for (const { store } of cluster.shards) await rebuildRollups(store.writer, {})
          },
        }),
    },
    {
      name: 'a project moves',
      needsShards: true,
      prepare: async () => {
        const of = await createNarrow()
        return { of, change: () => moveProject(relocation(), of.id, 'shard2') }
      },
    },
    {
      name: 'a project gets more shards',
      needsShards: true,
      prepare: async () => {
        const of = await createNarrow()
        return { of, change: () => widenProject(relocation(), of.id, 3) }
      },
    },
  ]

  test.each(KINDS.filter(({ needsShards }) => needsShards !== true || width > 1))(
    'while $name',
    async ({ prepare }) => {
      let total = 0
      while (total < ANSWERS) {
        seed += 1_009
        const { change, of = project } = await prepare()
        const key = await keys.issue(of.id, NOW, ['read', 'export'])
        const watched = services.map(({ address }) => ({ address: () => address, key }))
        const { asked, mixed } = await watchAll(watched, change)
        expect(mixed).toEqual([])
        total += asked
      }
      console.info(`${expect.getState().currentTestName}: ${total} responses`)
    },
    TIMEOUT_MS,
  )
})
