/** The example of a backend with customers, on one shard and several, while the service is killed. */
import { expect, test } from '@jest/globals'
import { runSaas } from '../../../examples/saas.js'
import { runCli } from '../../support/cli/cli.js'
import { scaled } from '../../support/effort.js'
import { createEnv, runService } from '../../support/kills/service.js'
import { until } from '../../support/until.js'
import { aDataDir } from '../clickhouse/embedded/support.js'

const CUSTOMERS = scaled(4)

async function live(shards: number): Promise<void> {
  const dataDir = await aDataDir()
  const service = runService(dataDir, shards)
  const kills: string[] = []
  try {
    await until(() => service.address() !== undefined)
    const { stdout } = await runCli(['key', 'issue', '--admin'], createEnv(dataDir, shards))
    await runSaas({
      service: service.address,
      adminKey: stdout.trim(),
      customers: CUSTOMERS,
      deletedPeople: CUSTOMERS * 2,
      run: `run${shards}`,
      onStep: (step) => {
        // Some of the step's requests are on their way by then.
        if (step !== 'send events' && step !== 'delete people') return
        setTimeout(() => {
          if (service.killService()) kills.push(step)
        }, 300)
      },
    })
  } finally {
    expect(await service.stop()).toBe(0)
  }
  expect(kills).toEqual(['send events', 'delete people'])
  expect(service.unexpectedExits).toEqual([])
}

test('with two kills, every number is right', () => live(1))
test('on three shards, too', () => live(3))
