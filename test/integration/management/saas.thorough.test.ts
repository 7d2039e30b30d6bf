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
  const steps: string[] = []
  const begun = performance.now()
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
        steps.push(`${((performance.now() - begun) / 1_000).toFixed(1)} s ${step}`)
        // Some of the step's requests are on their way by then.
        if (step !== 'send events' && step !== 'delete people') return
        setTimeout(() => {
          if (service.killService()) kills.push(step)
        }, 300)
      },
    })
  } finally {
    console.info([...steps, `${((performance.now() - begun) / 1_000).toFixed(1)} s`].join('\n'))
    expect(await service.stop()).toBe(0)
  }
  expect(kills).toEqual(['send events', 'delete people'])
  expect(service.unexpectedExits).toEqual([])
}

/** For 500 customers, run it with TEST_EFFORT=125. */
const TIMEOUT_MS = 600_000 + CUSTOMERS * 6_000

test('with two kills, every number is right', () => live(1), TIMEOUT_MS)
test('on three shards, too', () => live(3), TIMEOUT_MS)
