/** Usage while the service and its engines are killed: at each moment, every accepted event is in one of the numbers. */
import { expect, test } from '@jest/globals'
import type { Cluster } from '../../../src/cluster/cluster.js'
import { createRandom } from '../../../src/demo/random.js'
import { readUsage, type Usage } from '../../../src/usage/read-usage.js'
import { newWideProject } from '../../support/cluster/wide-world.js'
import { sample, scaled } from '../../support/effort.js'
import { compareMarks, listRemainingWork } from '../../support/kills/check.js'
import { waitForAccepted } from '../../support/kills/kills.js'
import { killProcesses } from '../../support/kills/processes.js'
import { runService } from '../../support/kills/service.js'
import { startSenders } from '../../support/kills/senders.js'
import { until } from '../../support/until.js'
import { aDataDir } from '../clickhouse/embedded/support.js'

const KILLS = scaled(1)
const SEED = Number(process.env['KILLS_SEED'] ?? Math.floor(Math.random() * 1e9))

const readTotals = async (cluster: Cluster, id: string) => {
  const rows = await readUsage(cluster, {
    from: new Date('2020-01-01'),
    to: new Date('2099-12-31'),
    interval: 'month',
    projectIds: [id],
  })
  const sum = (read: (row: Usage) => number): number =>
    rows.reduce((total, row) => total + read(row), 0)
  return {
    accepted: sum(({ accepted }) => accepted),
    counted: sum(({ counted }) => counted),
    repeated: sum(({ repeated }) => repeated),
    waiting: sum(({ waiting }) => waiting),
  }
}

const RUNS = [
  [1, KILLS],
  [2, Math.ceil(KILLS / 2)],
] as const

test.each(sample(RUNS, 2))(
  'with %d shards and %d kills, no number ever misses an event',
  async (shards, kills) => {
    const dataDir = await aDataDir()
    const service = runService(dataDir, shards)
    const { address } = service
    const random = createRandom(SEED)
    try {
      await until(() => address() !== undefined)
      const { id, token } = (await service.withCluster((cluster) =>
        newWideProject(cluster, cluster.shards),
      ))!
      const senders = startSenders({ seed: SEED, address, token, clients: 4 })
      let reads = 0
      /** Compares the numbers with what is known: between what was acknowledged before and what was sent until after. */
      const check = async (): Promise<void> => {
        const before = senders.acknowledged.size
        const found = await service.withCluster((cluster) => readTotals(cluster, id))
        if (found === undefined) return
        reads += 1
        const most = senders.sent.size + senders.countRepeats()
        const { accepted, counted, repeated, waiting } = found
        const isSo =
          before <= accepted && accepted <= most && accepted === counted + repeated + waiting
        expect({ seed: SEED, before, most, ...found, isSo }).toMatchObject({ isSo: true })
      }
      for (let kill = 0; kill < kills; kill += 1) {
        await waitForAccepted(senders)
        for (const pause = random.below(1_500) + performance.now(); performance.now() < pause;) {
          await check()
        }
        await until(() =>
          kill % 2 === 0 ? service.killService() : service.killEngine(random.below(shards)),
        )
        await check()
      }
      await waitForAccepted(senders)
      await senders.stop()
      await until(async () => (await service.withCluster(listRemainingWork))?.length === 0)
      expect(reads).toBeGreaterThan(0)
      const marks = { acknowledged: senders.acknowledged, sent: senders.sent }
      const cluster = (await service.openCluster())!
      const { stored } = await compareMarks(cluster, id, marks)
      const found = await readTotals(cluster, id)
      await cluster.close()
      expect(found).toMatchObject({ counted: stored, waiting: 0 })
      expect(found.accepted).toBe(found.counted + found.repeated)
    } finally {
      await service.stop()
      await killProcesses(dataDir)
    }
  },
)
