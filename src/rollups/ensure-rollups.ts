/** Builds the rollups of a store if they are missing or have another definition. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../clickhouse/connection.js'
import { withLease, type Lease } from '../clickhouse/lease/lease.js'
import type { Store } from '../clickhouse/store.js'
import { UserError } from '../lib/errors.js'
import { LIVE } from '../model/rollup-table-sets.js'
import { createViews, dropLiveViews, hashLiveViews } from './materialized-views.js'
import { listMonths } from './months.js'
import { LEASE_TIMEOUT_MS, type MonthsOptions } from './process-months.js'
import {
  countBegun,
  listMonthsDone,
  readRollupState,
  recordBegun,
  recordBuilt,
  recordMonth,
  recordViews,
} from './progress.js'
import { beginPairs, completePairs, listBegun, listDue } from './paired-projects.js'
import { rebuildRollups } from './rebuild.js'

interface EnsureRollupsOptions extends Pick<
  MonthsOptions,
  'finishInterruptedWork' | 'onMonth' | 'changeNoticeMs'
> {
  /**
   * How long to wait before the views change, in milliseconds: other processes need this long to notice that the rollups
   * are no longer those of their build. 0 by default.
   */
  readonly noticeMs?: number
  /** Ends that wait. */
  readonly stop?: AbortSignal
}

/**
 * Recreates the materialized views and backfills the rollups when they were built under another definition than this
 * build's. Until it has finished the rollups are incomplete, and queries must not read them. A build that was interrupted
 * goes on after the last month. Rollups that are abandoned while they are built are built again. If several processes call it at
 * once, one builds the rollups and the others wait.
 *
 * @throws UserError when a newer version has built the rollups, or has begun to
 */
export async function ensureRollups(
  store: Pick<Store, 'admin' | 'writer'>,
  options: EnsureRollupsOptions,
): Promise<void> {
  if (await isBuilt(store.writer)) return
  await withLease(
    store.admin,
    'rollups',
    async (lease) => {
      // Another process may have built them while this one waited.
      if (await isBuilt(store.writer)) return
      let isRecorded = false
      while (!isRecorded) {
        const begun = await build(store, options, lease)
        // While this process was suspended, another process may have built a different definition.
        await lease.assertHeld()
        const paired = await listBegun(store.writer)
        if (paired.length > 0) await completePairs(store.writer, paired, options)
        await lease.assertHeld()
        isRecorded = await recordUnlessAbandoned(store.writer, begun)
      }
    },
    // A build may take long, so the wait has no limit. The lease of a holder that dies expires.
    { waitMs: Infinity, requestsTurn: false },
  )
}

/**
 * Returns whether `ensureRollups` would take long: the rollups are outdated, and the store has facts.
 *
 * @throws UserError when a newer version has built the rollups, or has begun to
 */
export const isBuildLong = async (writer: Connection): Promise<boolean> =>
  !(await isBuilt(writer)) && (await listMonths(writer, undefined)).length > 0

/** @throws UserError when the rollups are those of a newer version */
async function isBuilt(connection: Connection): Promise<boolean> {
  const state = await readRollupState(connection)
  if (state === 'newer') {
    throw new UserError(
      'a newer version has built the rollups of this database: run that version or a later one',
    )
  }
  return state === 'current'
}

/** Builds what is missing. @returns how often builds had begun, before it looked for what is missing */
async function build(
  { admin, writer }: Pick<Store, 'admin' | 'writer'>,
  { noticeMs = 0, stop, onMonth, ...options }: EnsureRollupsOptions,
  lease: Lease,
): Promise<number> {
  let begun = await countBegun(writer)
  let views = await hashLiveViews(admin)
  let done = await listMonthsDone(writer, views)
  if (done === undefined) {
    await recordBegun(writer)
    if (views !== '') await sleep(noticeMs, undefined, { signal: stop })
    await recreateViews(admin)
    // Their pairs are counted together with everything else.
    const large = await listDue(writer)
    if (large.length > 0) await beginPairs({ admin, writer }, large)
    views = await hashLiveViews(admin)
    await recordViews(writer, views)
    begun = await countBegun(writer)
    done = new Set()
  }
  const isDone = done
  const months: MonthsOptions = {
    ...options,
    isDone: (month) => isDone.has(month),
    onMonth: async (month, left) => {
      await recordMonth(writer, views, month)
      await onMonth?.(month, left)
    },
  }
  await rebuildRollups(writer, months, lease)
  return begun
}

/**
 * Records that all months are built, unless the rollups were abandoned since then. Who abandons them holds the same lease.
 *
 * @param begun how often builds had begun
 */
const recordUnlessAbandoned = (writer: Connection, begun: number): Promise<boolean> =>
  withLease(
    writer,
    'loader',
    async (lease) => {
      if ((await countBegun(writer)) !== begun) return false
      await lease.assertHeld()
      await recordBuilt(writer)
      return true
    },
    { waitMs: LEASE_TIMEOUT_MS },
  )

const recreateViews = (admin: Connection): Promise<void> =>
  withLease(
    admin,
    'loader',
    async () => {
      await dropLiveViews(admin)
      await createViews(admin, LIVE)
    },
    { waitMs: LEASE_TIMEOUT_MS },
  )
