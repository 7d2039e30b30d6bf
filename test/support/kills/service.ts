/** Runs `tallyhouse serve` as a process, and restarts it whenever it ends. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { readEngineFile } from '../../../src/clickhouse/embedded/engine-file.js'
import { getEngineDir, isAlive } from '../../../src/clickhouse/embedded/engine-dir.js'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import { packagePath } from '../../../src/lib/package-path.js'

export interface KilledService {
  /** Its address; undefined while it is not running. */
  readonly address: () => string | undefined
  /** Kills it; false if it was not running. */
  readonly killService: () => boolean
  /** Kills its engine; false if that was not running. */
  readonly killEngine: () => Promise<boolean>
  /** Opens the store of its engine; undefined if it has none. */
  readonly openStore: () => Promise<Store | undefined>
  /** Runs `work` on the store; undefined if that fails. */
  readonly withStore: <T>(work: (store: Store) => Promise<T>) => Promise<T | undefined>
  /** The last line of its log for each exit that was neither a kill nor a stop. */
  readonly unexpectedExits: readonly string[]
  /** Returns the end of the log of its last run. */
  readonly log: () => string
  /** Stops it with SIGTERM and returns its exit code. */
  readonly stop: () => Promise<number | null>
}

/** The number of characters of its log to keep, to show why it exited. */
const MAX_LOG_CHARS = 4_000

/** Starts the service from dist/. */
export function runService(dataDir: string): KilledService {
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
      env: { PATH: process.env['PATH'], DATA_DIR: dataDir, PORT: '0' },
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

  const openStore = async (): Promise<Store | undefined> => {
    const endpoint = (await readEngineFile(getEngineDir(dataDir)))?.endpoint
    return endpoint && connectStore(endpoint)
  }

  return {
    unexpectedExits,
    openStore,
    log: () => state.log,
    address: () => state.address,
    killService: () => {
      if (!isRunning()) return false
      state.isKilled = true
      return state.child!.kill('SIGKILL')
    },
    killEngine: async () => {
      const pid = (await readEngineFile(getEngineDir(dataDir)))?.enginePid
      return pid !== undefined && isAlive(pid) && process.kill(pid, 'SIGKILL')
    },
    withStore: async (work) => {
      const store = await openStore()
      if (store === undefined) return undefined
      return work(store)
        .catch(() => undefined)
        .finally(() => store.close())
    },
    stop: async () => {
      state.isStopping = true
      state.child?.kill('SIGTERM')
      return ended
    },
  }
}
