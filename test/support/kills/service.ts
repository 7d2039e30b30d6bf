/** Runs `tallyhouse serve` as a process that is started again whenever it ends. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { readEngineFile } from '../../../src/clickhouse/embedded/engine-file.js'
import { getEngineDir, isAlive } from '../../../src/clickhouse/embedded/engine-dir.js'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import { packagePath } from '../../../src/lib/package-path.js'

export interface KilledService {
  /** Where it answers; undefined while it does not run. */
  readonly address: () => string | undefined
  /** Ends it at once; false where it did not run. */
  readonly killService: () => boolean
  /** Ends its engine at once; false where that did not run. */
  readonly killEngine: () => Promise<boolean>
  /** The store of its engine; undefined where it has none. */
  readonly open: () => Promise<Store | undefined>
  /** Does something with the store; undefined where that breaks. */
  readonly ask: <T>(work: (store: Store) => Promise<T>) => Promise<T | undefined>
  /** What it said last when it ended without having been killed. */
  readonly deaths: readonly string[]
  /** Ends it in order; the code it exits with. */
  readonly stop: () => Promise<number | null>
}

/** How much of its log is kept, for telling what it died of. */
const LOG_KEPT = 4_000

/** Runs the built command: build it first. */
export function runService(dataDir: string): KilledService {
  const deaths: string[] = []
  const state = {
    child: undefined as ChildProcess | undefined,
    address: undefined as string | undefined,
    isKilled: false,
    isStopping: false,
  }

  async function runOnce(): Promise<number | null> {
    let log = ''
    const child = spawn(process.execPath, [packagePath('dist/cli.js'), 'serve'], {
      env: { PATH: process.env['PATH'], DATA_DIR: dataDir, PORT: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    Object.assign(state, { child, isKilled: false })
    const hear = (data: Buffer): void => {
      log = (log + data.toString()).slice(-LOG_KEPT)
      state.address ??= /"address":"([^"]+)"/.exec(log)?.[1]
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    const [code] = (await once(child, 'close')) as [number | null]
    state.address = undefined
    if (!state.isKilled && !state.isStopping) deaths.push(log.trim().split('\n').at(-1) ?? '')
    return code
  }

  async function keepRunning(): Promise<number | null> {
    for (;;) {
      const code = await runOnce()
      if (state.isStopping) return code
      if (!state.isKilled) await sleep(100)
    }
  }
  const ended = keepRunning()
  const isRunning = (): boolean => state.child?.exitCode === null && state.child.signalCode === null

  const open = async (): Promise<Store | undefined> => {
    const endpoint = (await readEngineFile(getEngineDir(dataDir)))?.endpoint
    return endpoint && connectStore(endpoint)
  }

  return {
    deaths,
    open,
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
    ask: async (work) => {
      const store = await open()
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
