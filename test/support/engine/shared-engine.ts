/** Starts the one engine that the tests of a run share, on a folder of its own. */
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { startEngine } from '../../../src/clickhouse/embedded/engine.js'
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'
import { buildService } from './build-service.js'

export interface SharedEngine {
  readonly endpoint: Endpoint
  /** Ends the engine and removes its folder. */
  stop(): Promise<void>
}

/** Builds the service and starts its engine. */
export async function startSharedEngine(): Promise<SharedEngine> {
  await buildService()
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
