/** The steps of what deletes rows of a project: users, and old days. */
import { withHidden, type Hidden } from '../changes/announce-change.js'
import type { Connection } from '../clickhouse/connection.js'
import { findStagedTables } from '../clickhouse/replicas/staged-tables.js'
import { abandonRollups } from '../rollups/progress.js'
import { STEP, type Step } from './journal.js'

/** An entry of a journal. */
interface Entry {
  readonly number: number
  readonly projectId: string
  /** The last step that was recorded. */
  readonly reached: Step
}

/** What a kind of deletion does. Each may be repeated. */
export interface DeletionWork {
  readonly hidden: Hidden
  /** Drops the tables of the deletion. */
  readonly dropTables: () => Promise<void>
  /** Computes what the rows add to the rollups into tables of the deletion, which do not exist yet. */
  readonly stage: () => Promise<void>
  /**
   * Deletes the rows.
   *
   * @param areStaged false if the tables are lost with the replica that had computed them: the rollups are built anew from what is left
   */
  readonly apply: (areStaged: boolean) => Promise<void>
  readonly recordStep: (step: Step) => Promise<void>
  readonly end: () => Promise<void>
}

/**
 * Deletes rows from where the last process stopped. They are hidden first, so no query sees them from then on. Their share of the rollups
 * is computed into tables of the deletion before anything is deleted: every later statement states the result rather than a change, so
 * it may be repeated after a crash at any point.
 *
 * @param noticeMs how long services take to notice that the rows are hidden; that of services if left out
 */
export async function deleteInSteps(
  writer: Connection,
  { number, projectId, reached }: Entry,
  { hidden, dropTables, stage, apply, recordStep, end }: DeletionWork,
  noticeMs: number | undefined,
): Promise<void> {
  const staged = findStagedTables(writer, number)
  const deleteRows = async (): Promise<void> => {
    if (reached < STEP.staged) {
      await dropTables()
      await stage()
      await staged.record()
      await recordStep(STEP.staged)
    }
    if (reached < STEP.deleted) {
      const areStaged = await staged.areHere()
      // The lost replica may have subtracted a part of it.
      if (!areStaged) await abandonRollups(writer)
      await apply(areStaged)
      await recordStep(STEP.deleted)
    }
  }
  await withHidden(writer, projectId, hidden, deleteRows, noticeMs)
  await staged.forget()
  await dropTables()
  await end()
}
