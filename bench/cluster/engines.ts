/** Embedded engines that know each other, also by groups that name one engine many times. */
import path from 'node:path'
import { startEngine, type Engine } from '../../src/clickhouse/embedded/engine.js'
import { createAddresses, type EngineGroup } from '../../src/clickhouse/embedded/member.js'
import { migrate } from '../../src/clickhouse/migrations/migrate.js'
import { connectStore } from '../../src/clickhouse/store.js'
import type { Cluster, Shard } from '../../src/cluster/cluster.js'
import { listServedGroups } from '../../src/cluster/groups.js'
import { ensureRollups } from '../../test/support/store/loading.js'
import { readCpuSeconds } from '../shared/collecting.js'

export interface BenchCluster extends Cluster {
  readonly engines: readonly Engine[]
  stop(): Promise<void>
}

/** Returns the name of the cluster group that lists the first engine `count` times. */
export const nameRepeats = (count: number): string => `repeats_${count}`

/** @param repeats the sizes of the groups that name the first engine alone */
export async function startEngines(
  dataDir: string,
  count: number,
  repeats: readonly number[],
): Promise<BenchCluster> {
  const addresses = await createAddresses(count)
  const names = addresses.map((_, i) => `shard${i + 1}`)
  const groups: readonly EngineGroup[] = [
    ...listServedGroups(names).map(({ name, shards }) => ({
      name,
      engines: addresses.filter((_, i) => shards.includes(names[i]!)),
    })),
    ...repeats.map((times) => ({
      name: nameRepeats(times),
      engines: Array.from({ length: times }, () => addresses[0]!),
    })),
  ]
  const engines: Engine[] = []
  const shards: Shard[] = []
  for (const [i, address] of addresses.entries()) {
    const folder = path.join(dataDir, String(i + 1))
    const engine = await startEngine({
      dataDir: folder,
      purpose: 'bench',
      member: { ...address, groups },
    })
    engines.push(engine)
    await migrate(engine.endpoint)
    const store = connectStore(engine.endpoint)
    await ensureRollups(store)
    shards.push({ name: names[i]!, store })
  }
  const [home, ...others] = shards
  return {
    home: home!,
    shards: [home!, ...others],
    engines,
    stop: async () => {
      await Promise.all(shards.map(({ store }) => store.close()))
      await Promise.all(engines.map((engine) => engine.stop()))
    },
  }
}

/** Reads the CPU time that all engines have taken so far, in seconds. */
export const readCpu = async ({ engines }: BenchCluster): Promise<number> =>
  (await Promise.all(engines.map(({ pid }) => readCpuSeconds(pid)))).reduce((a, b) => a + b, 0)
