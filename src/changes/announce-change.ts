/** Announces changes of projects' data, so that no service gives answers from before a change once it can be seen. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string, uint32s, type Sql } from '../clickhouse/sql.js'
import {
  countOpenChanges,
  endChanges,
  NEXT_CHANGE,
  STATE_COLUMNS,
  writeStates,
  type Replaced,
} from './left-changes.js'
import { NOTICE_MS } from './timing.js'

/** What queries of a project do not see, although its rows are still stored: some users, or the days before one. */
export type Hidden =
  | {
      /** The numbers of the users. */
      readonly users: readonly number[]
    }
  | {
      /** The first day that is kept, such as `2026-01-31`; null for all days. */
      readonly keptFrom: string | null
    }

/** A change that was announced. */
export interface Change {
  /**
   * Resolves once every service has noticed the change. Only then may any of it become visible.
   *
   * @throws ChangeLostError
   */
  settle(): Promise<void>
  /** Records that the change becomes visible from now on. Until it ends, no query is answered, so that none sees a part of it. */
  publish(): Promise<void>
  /**
   * Records that all of the change is visible. If it is not called, the next holder of the loader lease does it.
   *
   * @param replaced groups of users whose earlier rows are still stored; queries do not count them until `endReplacing`
   */
  end(replaced?: Replaced): Promise<void>
  /** Ends the change, whose only effect is what queries of the projects do not see from now on. Other rows stay hidden. */
  endHiding(hidden: Hidden): Promise<void>
}

/** Another process has ended the change: this one was suspended, and has lost the loader lease. */
export class ChangeLostError extends Error {
  override readonly name = 'ChangeLostError'

  constructor() {
    super('another process has taken over the work, and ended the change that was announced')
  }
}

/** Selects all projects, for `announceChange`. */
export const ALL_PROJECTS: Sql = sql`SELECT '' AS project_id`

/** Selects one project, for `announceChange`. */
export const selectProject = (projectId: string): Sql =>
  sql`SELECT ${string(projectId)} AS project_id`

/**
 * Announces a change of projects. The caller holds the loader lease.
 *
 * @param projects a SELECT of the column `project_id`; a project may be in it several times
 * @param noticeMs how long services take to notice it
 */
export async function announceChange(
  writer: Connection,
  projects: Sql,
  noticeMs = NOTICE_MS,
): Promise<Change> {
  const announcement = sql`toUUID(${string(randomUUID())})`
  // If a killed process has published a change in part, queries wait until this one has ended.
  await writer.execute(
    statement(sql`
INSERT INTO project_changes (${STATE_COLUMNS})
SELECT
  changing.project_id, ${NEXT_CHANGE}, true, ${announcement},
  if(earlier.is_open AND earlier.published = earlier.announcement, ${announcement}, earlier.published),
  earlier.hidden_users, earlier.kept_from, earlier.replaced_groups, earlier.replaced_before
FROM (SELECT DISTINCT project_id FROM (${projects})) AS changing
LEFT JOIN (SELECT * FROM project_changes FINAL) AS earlier USING (project_id)`),
  )
  const announcedAt = performance.now()
  const isOwn = sql`announcement = ${announcement}`
  const announced = await countOpenChanges(writer, isOwn)
  if (announced === 0) return NO_CHANGE
  return {
    settle: async () => {
      for (;;) {
        const left = announcedAt + noticeMs - performance.now()
        if (left <= 0) break
        await sleep(left)
      }
      if ((await countOpenChanges(writer, isOwn)) < announced) throw new ChangeLostError()
    },
    publish: () => writeStates(writer, isOwn, { isOpen: true, published: announcement }),
    // A process that was suspended ends only what nobody has announced again.
    end: (replaced) => endChanges(writer, isOwn, replaced),
    endHiding: (hidden) =>
      writeStates(writer, isOwn, {
        isOpen: false,
        published: announcement,
        ...('users' in hidden
          ? { hiddenUsers: uint32s(hidden.users) }
          : { keptFrom: sql`toDate(${string(hidden.keptFrom ?? '1970-01-01')})` }),
      }),
  }
}

/** The change of no project. */
const NO_CHANGE: Change = {
  settle: () => Promise.resolve(),
  publish: () => Promise.resolve(),
  end: () => Promise.resolve(),
  endHiding: () => Promise.resolve(),
}

/** Runs work that changes projects: announces it, lets services notice it, and ends it if the work succeeds. */
export const withChange = (
  writer: Connection,
  projects: Sql,
  work: () => Promise<void>,
  noticeMs = NOTICE_MS,
): Promise<void> => withChanges([writer], projects, work, noticeMs)

/** The same for work that changes the projects in several stores at once. */
export async function withChanges(
  writers: readonly Connection[],
  projects: Sql,
  work: () => Promise<void>,
  noticeMs = NOTICE_MS,
): Promise<void> {
  const changes: Change[] = []
  for (const writer of writers) changes.push(await announceChange(writer, projects, noticeMs))
  for (const change of changes) await change.settle()
  for (const change of changes) await change.publish()
  await work()
  for (const change of changes) await change.end()
}

/**
 * Deletes rows that no query sees: hides them at once, and then runs the work, which may take long. Queries of the project read no
 * rollups meanwhile, so these may be corrected in any order. May be repeated. The caller holds the loader lease.
 */
export async function withHidden(
  writer: Connection,
  projectId: string,
  hidden: Hidden,
  work: () => Promise<void>,
  noticeMs = NOTICE_MS,
): Promise<void> {
  await hide(writer, projectId, hidden, noticeMs)
  await work()
  await hide(writer, projectId, 'users' in hidden ? { users: [] } : { keptFrom: null }, noticeMs)
}

/** Hides rows until they are hidden no longer, or others are. The caller holds the loader lease, and deletes them later by `withHidden`. */
const hide = (
  writer: Connection,
  projectId: string,
  hidden: Hidden,
  noticeMs: number,
): Promise<void> => hideAtOnce([{ writer, hidden, noticeMs }], projectId)

/** What a store is to hide. */
export interface HiddenOn {
  readonly writer: Connection
  readonly hidden: Hidden
  /** How long services take to notice it. */
  readonly noticeMs?: number | undefined
}

/**
 * Hides rows of a project on several stores at one moment: no query sees them on one store and not on another. The caller holds the
 * loader leases, and deletes the rows later by `withHidden`.
 *
 * @param record records that the rows are to be deleted. Queries of a project on several stores wait meanwhile
 */
export async function hideAtOnce(
  stores: readonly HiddenOn[],
  projectId: string,
  record: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const changes: (readonly [Change, Hidden])[] = []
  for (const { writer, hidden, noticeMs } of stores) {
    changes.push([await announceChange(writer, selectProject(projectId), noticeMs), hidden])
  }
  for (const [change] of changes) await change.settle()
  if (changes.length > 1) for (const [change] of changes) await change.publish()
  await record()
  for (const [change, hidden] of changes) await change.endHiding(hidden)
}
