/** Starts the one engine that the tests of a run share, on a folder of its own. */
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { NoEngineError, startEngine } from '../../../src/clickhouse/embedded/engine.js'
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'
import { buildService } from './build-service.js'

export interface SharedEngine {
  readonly endpoint: Endpoint
  /** Ends the engine and removes its folder. */
  stop(): Promise<void>
}

/** A file system in memory. The engine waits for the disk two hundred times in a load, and in memory not at all. */
const MEMORY = '/dev/shm'
/** How many bytes must be free there: several times what a run stores. */
const MIN_FREE = 8 * 1024 ** 3
const PREFIX = 'tallyhouse-test-'

/** Chooses where the data go: into memory if there is plenty, or else into the folder for temporary files. */
async function chooseParent(): Promise<string> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }))
  return Math.min(bavail * bsize, os.freemem()) > MIN_FREE ? MEMORY : os.tmpdir()
}

/** Removes from memory what runs that were killed have left there. */
async function removeAbandoned(): Promise<void> {
  const names = await readdir(MEMORY).catch((): string[] => [])
  for (const name of names.filter((one) => one.startsWith(PREFIX))) {
    const isRunning = existsSync(`/proc/${name.slice(PREFIX.length).split('-', 1)[0] ?? ''}`)
    if (!isRunning) await rm(path.join(MEMORY, name), { recursive: true, force: true })
  }
}

/** Creates a folder for an engine, in memory if there is room. */
export const createEngineFolder = async (): Promise<string> =>
  mkdtemp(path.join(await chooseParent(), `${PREFIX}${process.pid}-`))

/** Builds the service and starts its engine. Returns undefined where there is none: unit tests and contract tests do without. */
export async function startSharedEngine(): Promise<SharedEngine | undefined> {
  await buildService()
  await removeAbandoned()
  const dataDir = await createEngineFolder()
  const remove = (): Promise<void> => rm(dataDir, { recursive: true, force: true })
  const engine = await startEngine({ dataDir, purpose: 'jest' }).catch(async (error: unknown) => {
    await remove()
    if (error instanceof NoEngineError) return undefined
    throw error
  })
  if (engine === undefined) return undefined
  return {
    endpoint: engine.endpoint,
    async stop() {
      await engine.stop()
      await remove()
    },
  }
}
