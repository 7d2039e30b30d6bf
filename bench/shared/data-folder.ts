/** Data folders of benchmarks, and the stores in them. */
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { openStore, type OpenedStore } from '../../src/bootstrap/open-store.js'

/** Events of any age are accepted. */
export const MAX_EVENT_AGE_DAYS = 36_500

/** Opens the store in a data folder with the embedded engine, to write. */
export const openBenchStore = (dataDir: string): Promise<OpenedStore> =>
  openStore(
    { dataDir, clickhouse: undefined, maxEventAgeDays: MAX_EVENT_AGE_DAYS },
    { purpose: 'bench', access: 'write' },
  )

/** Calls `work` with the folder in DATA_DIR, which is kept, or else with a new one, which is deleted afterwards. */
export async function withDataFolder(work: (dataDir: string) => Promise<void>): Promise<void> {
  const keptDir = process.env['DATA_DIR']
  const dataDir = keptDir ?? (await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-bench-')))
  try {
    await work(dataDir)
  } finally {
    if (keptDir === undefined) await rm(dataDir, { recursive: true, force: true })
  }
}
