/** A question whose answer may be kept: what it is resolved to, and how its answer is named. */
import { ApiError } from '../../contract/errors.js'
import type { QueriedProject } from '../query-analytics.js'
import { nameAnswer, type ProjectFacts } from './answer-name.js'
import type { DatedRequest, KeptOperation } from './operation.js'

export interface Question<Request> {
  readonly request: Request
  readonly project: QueriedProject
  /** Only questions with the same asker share their work, because it counts for the asker. */
  readonly asker: string
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal
  /** The moment at which the question is asked; the clock says it if left out. The computation knows the same. */
  readonly now?: Date | undefined
}

/**
 * Resolves a question without the store; returns undefined when that needs the first event, which is unknown, or the
 * question is refused: its computation refuses it in its turn.
 */
export function resolveKnown<Request extends DatedRequest, Resolved>(
  { resolve }: Pick<KeptOperation<Request, Resolved, never>, 'resolve'>,
  { request, project }: Question<Request>,
  { firstEventAt }: ProjectFacts,
  now: Date,
): Resolved | undefined {
  if (request.date_range === 'all' && firstEventAt === undefined) return undefined
  try {
    return resolve(request, project, firstEventAt ?? null, now)
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/** Names the answer to a question, by what is known about the data. @param readsRollups as `nameAnswer` */
export const nameQuestion = <Request extends DatedRequest, Resolved>(
  { name }: Pick<KeptOperation<Request, Resolved, never>, 'name'>,
  { request, project }: Question<Request>,
  resolved: Resolved,
  facts: ProjectFacts,
  readsRollups: boolean,
): string =>
  nameAnswer(project, facts, readsRollups, (writeEnd) => name(request, resolved, writeEnd))

/** Lists the names that the answer to a question may have, whatever is known about the data. */
export const listNames = <Request extends DatedRequest, Resolved>(
  operation: Pick<KeptOperation<Request, Resolved, never>, 'name' | 'listEnds'>,
  question: Question<Request>,
  resolved: Resolved,
  readsRollups: boolean,
): readonly string[] =>
  [{}, ...operation.listEnds(question.request, resolved).map((emptyFrom) => ({ emptyFrom }))].map(
    (facts) => nameQuestion(operation, question, resolved, facts, readsRollups),
  )
