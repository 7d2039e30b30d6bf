/** Runs `tallyhouse serve` as a process, and restarts it whenever it ends. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readEngineFile } from '../../../src/clickhouse/embedded/engine-file.js'
import { getEngineDir, isAlive } from '../../../src/clickhouse/embedded/engine-dir.js'
import { connectStore } from '../../../src/clickhouse/store.js'
import type { Cluster } from '../../../src/cluster/cluster.js'
import { nameEmbeddedShards } from '../../../src/config/stores.js'
import { packagePath } from '../../../src/lib/package-path.js'

export interface KilledService {
  /** Its address; undefined while it is not running. */
  readonly address: () => string | undefined
  /** Kills it; false if it was not running. */
  readonly killService: () => boolean
  /** Kills the engine of a shard, by its position; false if that was not running. */
  readonly killEngine: (shard?: number) => Promise<boolean>
  /** Opens the stores of its engines; undefined if one has none. */
  readonly openCluster: () => Promise<OpenCluster | undefined>
  /** Runs `work` on the stores; undefined if that fails. */
  readonly withCluster: <T>(work: (cluster: Cluster) => Promise<T>) => Promise<T | undefined>
  /** The last line of its log for each exit that was neither a kill nor a stop. */
  readonly unexpectedExits: readonly string[]
  /** Returns the end of the log of its last run. */
  readonly log: () => string
  /** Stops it with SIGTERM and returns its exit code. */
  readonly stop: () => Promise<number | null>
}

/** The number of characters of its log to keep, to show why it exited. */
const MAX_LOG_CHARS = 4_000

export interface OpenCluster extends Cluster {
  readonly close: () => Promise<void>
}

/** The environment of the service, and of commands beside it. Projects live on all shards. */
export const createEnv = (dataDir: string, shards: number): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  DATA_DIR: dataDir,
  ...(shards === 1 ? {} : { EMBEDDED_SHARDS: String(shards), DEFAULT_WIDTH: String(shards) }),
})

/** Starts the service from dist/, with this number of shards. */
export function runService(dataDir: string, shards = 1): KilledService {
  const names = nameEmbeddedShards(shards)
  const engineDirs = names.map((_, i) =>
    getEngineDir(i === 0 ? dataDir : path.join(dataDir, 'shards', String(i + 1))),
  )
  const unexpectedExits: string[] = []
  const state = {
    child: undefined as ChildProcess | undefined,
    address: undefined as string | undefined,
    log: '',
    isKilled: false,
    isStopping: false,
  }

  async function runOnce(): Promise<number | null> {
    const child = spawn(process.execPath, [packagePath('dist/cli.js'), 'serve'], {
      env: { ...createEnv(dataDir, shards), PORT: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    Object.assign(state, { child, log: '', isKilled: false })
    const readLog = (data: Buffer): void => {
      state.log = (state.log + data.toString()).slice(-MAX_LOG_CHARS)
      state.address ??= /"address":"([^"]+)"/.exec(state.log)?.[1]
    }
    child.stdout.on('data', readLog)
    child.stderr.on('data', readLog)
    const [code] = (await once(child, 'close')) as [number | null]
    state.address = undefined
    if (!state.isKilled && !state.isStopping)
      unexpectedExits.push(state.log.trim().split('\n').at(-1) ?? '')
    return code
  }

  async function keepRunning(): Promise<number | null> {
    for (;;) {
      const code = await runOnce()
      if (!state.isKilled && !state.isStopping) await sleep(100)
      if (state.isStopping) return code
    }
  }
  const ended = keepRunning()
  const isRunning = (): boolean => state.child?.exitCode === null && state.child.signalCode === null

  const openCluster = async (): Promise<OpenCluster | undefined> => {
    const files = await Promise.all(engineDirs.map(readEngineFile))
    const [home, ...others] = files.map((file, i) =>
      file === undefined ? undefined : { name: names[i]!, store: connectStore(file.endpoint) },
    )
    const opened = [home, ...others].filter((shard) => shard !== undefined)
    const close = async (): Promise<void> => {
      await Promise.all(opened.map(({ store }) => store.close()))
    }
    if (home !== undefined && opened.length === shards) {
      return { home, shards: [home, ...opened.slice(1)], close }
    }
    await close()
    return undefined
  }

  return {
    unexpectedExits,
    openCluster,
    log: () => state.log,
    address: () => state.address,
    killService: () => {
      if (!isRunning()) return false
      state.isKilled = true
      return state.child!.kill('SIGKILL')
    },
    killEngine: async (shard = 0) => {
      const pid = (await readEngineFile(engineDirs[shard]!))?.enginePid
      return pid !== undefined && isAlive(pid) && process.kill(pid, 'SIGKILL')
    },
    withCluster: async (work) => {
      const cluster = await openCluster()
      if (cluster === undefined) return undefined
      return work(cluster)
        .catch(() => undefined)
        .finally(() => cluster.close())
    },
    stop: async () => {
      state.isStopping = true
      state.child?.kill('SIGTERM')
      return ended
    },
  }
}
