/** The operations. A new one is a module beside this file, a row here, and its lines in the contract and the docs. */
import { EXPORT } from './export.js'
import { FUNNEL } from './funnel.js'
import { JOURNEYS } from './journeys.js'
import type { AnsweredOperation, AnyOperation, StreamedOperation } from '../operation.js'
import { QUERY } from './query.js'
import { RETENTION } from './retention.js'
import { VALUES } from './values.js'

/** In the order in which language models read them. */
export const OPERATIONS: readonly AnyOperation[] = [
  QUERY,
  VALUES,
  RETENTION,
  FUNNEL,
  JOURNEYS,
  EXPORT,
]

/** Whether the response of an operation is a body. Operations that stream some responses only have a body as well. */
export const isAnswered = (operation: AnyOperation): operation is AnsweredOperation =>
  operation.read !== undefined

/** Whether an operation streams the response to a request. */
export const isStreamed = (
  operation: AnyOperation,
  request: never,
): operation is StreamedOperation =>
  operation.stream !== undefined && (operation.streams?.(request) ?? true)
