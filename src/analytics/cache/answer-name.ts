/** Names answers: two questions with the same name have the same rows, as long as the data is the same. */
import type { QueriedProject } from '../query-analytics.js'
import type { WriteEnd } from './operation.js'

/** What is known about a version of a project's data. It is learnt while questions are answered. */
export interface ProjectFacts {
  /** The moment of the first event; null without events. Undefined while it is unknown. */
  firstEventAt?: Date | null
  /** No event lies at this moment or later; undefined while no such moment is known. */
  emptyFrom?: Date
}

/** Whether it is known that no event lies at a moment or later. */
export const isEmptyFrom = ({ emptyFrom }: ProjectFacts, moment: Date): boolean =>
  emptyFrom !== undefined && emptyFrom <= moment

/**
 * Names an answer about a project. It does not depend on the moments after the last event.
 *
 * @param readsRollups whether the answer may come from the rollups
 * @param name names what the operation was asked
 */
export const nameAnswer = (
  project: QueriedProject,
  facts: ProjectFacts,
  readsRollups: boolean,
  name: (writeEnd: WriteEnd) => readonly unknown[],
): string =>
  JSON.stringify([
    project.id,
    // A later project may have the same id.
    project.createdAt.getTime(),
    readsRollups,
    ...name((end) => (isEmptyFrom(facts, end) ? 'open' : end.getTime())),
  ])
