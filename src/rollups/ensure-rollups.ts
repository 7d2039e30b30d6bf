/** Builds the rollups of a store if they are missing or have another definition. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../clickhouse/connection.js'
import { underLease, type Lease } from '../clickhouse/lease/lease.js'
import type { Store } from '../clickhouse/store.js'
import { UserError } from '../lib/errors.js'
import { LIVE } from '../model/rollup-table-sets.js'
import { createViews, dropLiveViews } from './materialized-views.js'
import { listMonths } from './months.js'
import { LEASE_TIMEOUT_MS, type MonthsOptions } from './process-months.js'
import {
  listMonthsDone,
  readBuild,
  readRollupState,
  recordBegun,
  recordBuilt,
  recordMonth,
  recordViews,
  type Build,
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
  await underLease(
    store.admin,
    'rollups',
    async (admin, lease) => {
      const fenced = { ...store, admin }
      // Another process may have built them while this one waited.
      if (await isBuilt(store.writer)) return
      let isRecorded = false
      while (!isRecorded) {
        const built = await build(fenced, options, lease)
        // While this process was suspended, another process may have built a different definition.
        await lease.assertHeld()
        const paired = await listBegun(store.writer)
        if (paired.length > 0) await completePairs(store.writer, paired, options)
        await lease.assertHeld()
        isRecorded = await recordUnlessAbandoned(fenced, built)
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

/** Builds what is missing. @returns the build, as it was before it looked for what is missing */
async function build(
  { admin, writer }: Pick<Store, 'admin' | 'writer'>,
  { noticeMs = 0, stop, onMonth, ...options }: EnsureRollupsOptions,
  lease: Lease,
): Promise<Build> {
  let current = await readBuild(admin)
  let done = await listMonthsDone(writer, current)
  if (done === undefined) {
    await recordBegun(writer)
    if (current.views !== '') await sleep(noticeMs, undefined, { signal: stop })
    await recreateViews(admin, lease)
    // Their pairs are counted together with everything else.
    const large = await listDue(writer)
    if (large.length > 0) await beginPairs({ admin, writer }, large)
    current = await readBuild(admin)
    await recordViews(writer, current.views)
    done = new Set()
  }
  const isDone = done
  const months: MonthsOptions = {
    ...options,
    isDone: (month) => isDone.has(month),
    onMonth: async (month, left) => {
      await recordMonth(writer, current, month)
      await onMonth?.(month, left)
    },
  }
  await rebuildRollups(writer, months, lease)
  return current
}

/**
 * Records that all months are built, unless the rollups were abandoned or their views were changed since the build began. Both happen only
 * under this lease.
 */
const recordUnlessAbandoned = (
  { admin, writer }: Pick<Store, 'admin' | 'writer'>,
  built: Build,
): Promise<boolean> =>
  underLease(
    writer,
    'loader',
    async (fenced, lease) => {
      const now = await readBuild(admin)
      if (now.begun !== built.begun || now.views !== built.views) return false
      await lease.assertHeld()
      await recordBuilt(fenced)
      return true
    },
    { waitMs: LEASE_TIMEOUT_MS },
  )

/** @param lease the lease `rollups`: without it, another process may have built the rollups with these views */
const recreateViews = (admin: Connection, lease: Lease): Promise<void> =>
  underLease(
    admin,
    'loader',
    async (holder, loaderLease) => {
      await lease.assertHeld()
      await loaderLease.assertHeld()
      await dropLiveViews(holder)
      await createViews(holder, LIVE)
    },
    { waitMs: LEASE_TIMEOUT_MS },
  )
