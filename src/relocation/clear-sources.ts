/** Deletes the data of a relocation at its sources, once no service needs it there any more. */
import { setTimeout as sleep } from 'node:timers/promises'
import { underLease } from '../clickhouse/lease/lease.js'
import type { Shard } from '../cluster/cluster.js'
import { finishInterruptedWork, loadWaiting } from '../ingest/loader/loader.js'
import { withLoaderLease } from '../ingest/loader/with-loader-lease.js'
import { SECOND_MS } from '../lib/time.js'
import { LEASE_TIMEOUT_MS } from '../rollups/process-months.js'
import { rebuildRollups } from '../rollups/rebuild.js'
import { deleteDeparted, forgetDepartures } from './rows/departures.js'
import { forwardRows } from './forward-rows.js'
import { isWidening, listSources, type Relocation } from './journal.js'
import type { Run } from './run.js'
import { dropDraftRollups } from './rows/staged-rollups.js'
import { dropStagedTables, removeProject } from './rows/staging.js'
import { endWidening } from './switch-directory.js'
import { requireShard } from './transfers.js'

/**
 * The time from the switch to the deletion of the data at the sources: services use what they know of a project for up to a
 * minute, and a query then takes up to 10 seconds by default.
 */
const SETTLE_MS = 75 * SECOND_MS

/** Waits until every service knows of the switch, and deletes what was left behind. What arrives there is forwarded. */
export async function clearSources(run: Run, relocation: Relocation): Promise<void> {
  const { cluster } = run
  const sources = listSources(relocation)
  await settle(run, sources)
  const shards = sources.map((name) => requireShard(cluster, name))
  if (isWidening(relocation)) {
    for (const shard of shards) await clearOfDeparted(run, shard, relocation.projectId)
    await endWidening(cluster, relocation)
    for (const { store } of shards) await forgetDepartures(store.writer, relocation.projectId)
  } else {
    for (const shard of shards) {
      await removeProject(shard, relocation.projectId, (fenced) =>
        loadWaiting(fenced, run.getContext(shard)),
      )
    }
  }
  await forwardRows(cluster)
  for (const { target } of relocation.legs) {
    await dropStaged(requireShard(cluster, target))
  }
}

/** Drops the staged tables at a target. */
export async function dropStaged({ store: { writer } }: Shard): Promise<void> {
  await dropDraftRollups(writer)
  await dropStagedTables(writer)
}

/** How often services that missed the switch are looked after. */
const FORWARD_INTERVAL_MS = 2 * SECOND_MS

async function settle(
  { cluster, onProgress, settleMs = SETTLE_MS }: Run,
  sources: readonly string[],
): Promise<void> {
  const seconds = Math.ceil(settleMs / SECOND_MS)
  onProgress(`in ${seconds} seconds what ${sources.join(', ')} no longer needs is deleted`)
  const end = performance.now() + settleMs
  while (performance.now() < end) {
    await forwardRows(cluster)
    await sleep(Math.min(FORWARD_INTERVAL_MS, Math.max(0, end - performance.now())))
  }
}

/**
 * Deletes the rows of the users who have left a shard, and counts those who stay again. Meanwhile queries of the project read no
 * rollups, and no other process computes any.
 */
const clearOfDeparted = (
  { getContext, onProgress }: Run,
  shard: Shard,
  projectId: string,
): Promise<void> =>
  underLease(
    shard.store.writer,
    'rollups',
    async (writer, lease) => {
      const context = getContext(shard)
      onProgress(`${shard.name} deletes the users who have left, and counts the others again`)
      await withLoaderLease(writer, async (fenced) => {
        await loadWaiting(fenced, context)
        await deleteDeparted(fenced, projectId)
      })
      const { noticeMs } = context
      await rebuildRollups(
        writer,
        {
          projectId,
          finishInterruptedWork: (fenced) => finishInterruptedWork(fenced, context),
          ...(noticeMs !== undefined && { changeNoticeMs: noticeMs }),
        },
        lease,
      )
    },
    { waitMs: LEASE_TIMEOUT_MS },
  )
