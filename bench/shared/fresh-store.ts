/** An empty store with one project, for one measurement. */
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { Store } from '../../src/clickhouse/store.js'
import { createProject } from '../../src/projects/store.js'
import { START } from './loading.js'
import { openBenchStore } from './data-folder.js'

export const PROJECT = 'bench'

/** Calls `work` with a store that is deleted afterwards. */
export async function withFreshStore<Result>(
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-bench-'))
  try {
    const opened = await openBenchStore(dataDir)
    try {
      const project = { id: PROJECT, name: 'Bench', domain: 'example.com' }
      await createProject(opened.store, project, new Date(START))
      return await work(opened.store)
    } finally {
      await opened.close()
    }
  } finally {
    await rm(dataDir, { recursive: true })
  }
}
