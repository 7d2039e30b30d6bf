/** Compares what is stored with what was sent while a service was killed. */
import { expect } from '@jest/globals'
import { sql, string } from '../../../src/clickhouse/sql.js'
import type { Cluster } from '../../../src/cluster/cluster.js'
import { countWaitingRows } from '../../../src/ingest/loader/stream.js'
import { expectConsistentFacts, listLeftovers, select } from '../store/facts.js'
import { checkRollups } from '../store/loading.js'

export interface Marks {
  /** The marks of the events that the collector acknowledged. */
  readonly acknowledged: ReadonlySet<string>
  /** The marks of all events that were sent. */
  readonly sent: ReadonlySet<string>
}

/** The result of a comparison. It lists the first MAX_LISTED of the lost, doubled and unknown marks. */
export interface MarkComparison {
  readonly acknowledged: number
  readonly stored: number
  readonly lost: readonly string[]
  readonly doubled: readonly string[]
  readonly unknown: readonly string[]
}

const MAX_LISTED = 20

/** Lists what the loader has left to do; at first only the number of rows that wait. */
export async function listRemainingWork({ shards }: Cluster): Promise<readonly string[]> {
  const ofShards = shards.map(async ({ store }) => {
    const { rows } = await countWaitingRows(store.writer)
    return rows > 0 ? [`${rows} rows wait`] : listLeftovers(store)
  })
  return (await Promise.all(ofShards)).flat()
}

/** Compares all events of a project by their property `mark`, which is unique. */
export async function compareMarks(
  { shards }: Cluster,
  projectId: string,
  { acknowledged, sent }: Marks,
): Promise<MarkComparison> {
  const stored = new Map<string, number>()
  for (const { store } of shards) {
    const rows = await select<{ mark: string; times: number }>(
      store,
      sql`
SELECT properties['mark'] AS mark, count() AS times
FROM events WHERE project_id = ${string(projectId)} GROUP BY mark`,
    )
    for (const { mark, times } of rows) stored.set(mark, times + (stored.get(mark) ?? 0))
  }
  return {
    acknowledged: acknowledged.size,
    stored: stored.size,
    lost: [...acknowledged].filter((mark) => !stored.has(mark)).slice(0, MAX_LISTED),
    doubled: [...stored]
      .filter(([, times]) => times !== 1)
      .map(([mark]) => mark)
      .slice(0, MAX_LISTED),
    unknown: [...stored.keys()].filter((mark) => !sent.has(mark)).slice(0, MAX_LISTED),
  }
}

/** Checks that sessions, users and rollups agree with the events. */
export async function expectConsistent({ shards }: Cluster, projectId: string): Promise<void> {
  for (const { store } of shards) {
    await expectConsistentFacts(store, projectId)
    expect(await listLeftovers(store)).toEqual([])
    expect(await checkRollups(store.writer, {})).toMatchObject({ different: 0, differences: [] })
  }
}
