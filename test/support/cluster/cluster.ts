/** Starts clusters of embedded engines. A test file should share one among its tests. */
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { startEngine, type Engine } from '../../../src/clickhouse/embedded/engine.js'
import { createAddresses } from '../../../src/clickhouse/embedded/member.js'
import { migrate } from '../../../src/clickhouse/migrations/migrate.js'
import { connectStore } from '../../../src/clickhouse/store.js'
import type { Cluster, Shard } from '../../../src/cluster/cluster.js'
import { listGroups } from '../../../src/cluster/groups.js'
import { createEngineFolder } from '../engine/shared-engine.js'
import { ensureRollups } from '../store/loading.js'

export interface TestCluster extends Cluster {
  /** The engines of the shards, in their order. */
  readonly engines: readonly Engine[]
  /** Ends the engines and removes their folders. */
  stop(): Promise<void>
}

/**
 * Starts `count` engines that know each other and creates all tables and views on each, with the accounts of the service. Takes
 * about a second for each.
 *
 * @param group a further group of shards, beside those of the service
 * @param findWay returns the native port by which the engines reach the engine at a position; its own by default
 */
export async function startCluster(
  count: number,
  group?: EngineRange,
  findWay: (port: number, position: number) => Promise<number> = (port) => Promise.resolve(port),
): Promise<TestCluster> {
  const dataDir = await createEngineFolder()
  const own = await createAddresses(count)
  const addresses = await Promise.all(
    own.map(async (address, i) => ({
      ...address,
      nativePort: await findWay(address.nativePort, i),
    })),
  )
  const names = addresses.map((_, i) => `shard${i + 1}`)
  const groups = listGroups(names).map(({ name, shards }) => ({
    name,
    engines: shards.map((shard) => addresses[names.indexOf(shard)]!),
  }))
  if (group !== undefined) {
    const { from, to } = group
    groups.push({ name: `tallyhouse_${from}_${to}`, engines: addresses.slice(from - 1, to) })
  }
  const engines = await Promise.all(
    own.map((address, i) =>
      startEngine({
        dataDir: path.join(dataDir, `${i + 1}`),
        purpose: 'jest',
        member: { ...address, groups },
      }),
    ),
  )
  const shards = await Promise.all(
    engines.map(async ({ endpoint }, i): Promise<Shard> => {
      await migrate(endpoint)
      const store = connectStore(endpoint)
      await ensureRollups(store)
      return { name: names[i]!, store }
    }),
  )
  const [home, ...others] = shards
  return {
    home: home!,
    shards: [home!, ...others],
    engines,
    stop: async () => {
      await Promise.all(shards.map(({ store }) => store.close()))
      await Promise.all(engines.map((engine) => engine.stop()))
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Neighbouring shards by their numbers, from 1. */
export interface EngineRange {
  readonly from: number
  readonly to: number
}
