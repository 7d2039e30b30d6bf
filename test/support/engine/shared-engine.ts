/** Starts the one engine of a test run, in a folder that goes away with it. */
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { startEngine } from '../../../src/clickhouse/embedded/engine.js'
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'
import { buildLauncher } from './build-launcher.js'

export interface SharedEngine {
  readonly endpoint: Endpoint
  /** Ends the engine and removes its folder. */
  stop(): Promise<void>
}

export async function startSharedEngine(): Promise<SharedEngine> {
  await buildLauncher()
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-test-'))
  const remove = (): Promise<void> => rm(dataDir, { recursive: true, force: true })
  const engine = await startEngine({ dataDir, purpose: 'jest' }).catch(async (error: unknown) => {
    await remove()
    throw error
  })
  return {
    endpoint: engine.endpoint,
    async stop() {
      await engine.stop()
      await remove()
    },
  }
}
