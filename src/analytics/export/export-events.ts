/** Returns the single events of a period, in the order of time. */
import type { Statement } from '../../clickhouse/sql.js'
import type { EventField, ExportRequest, ExportResponse } from '../../contract/api.js'
import { continueWith } from '../../lib/generators.js'
import { withResolvers } from '../../lib/settle.js'
import { createNonce, requireOrigin, type MarkedRow } from '../../model/origin.js'
import type { PlanDependencies, QueriedProject, StoredRows, StreamRows } from '../operation.js'
import { namePatterns, requireAllRows } from '../check-rows.js'
import { resolveFilteredQuery } from '../request/derived-queries.js'
import { listPatternFields } from '../request/filter-limits.js'
import { formatPeriod, type Period } from '../request/period.js'
import { resolveAllowedPeriod } from '../request/allowed-period.js'
import { resolveNow } from '../run-operation.js'
import type { ShardGroup } from '../sql/shards.js'
import { cutPeriod, type BucketCount, type CountEvents } from './cut-period.js'
import type { StoredValue } from './fields.js'
import {
  buildCountStatement,
  buildEventsStatement,
  MAX_STATEMENT_ROWS,
  type Export,
} from './statement.js'

interface ExportDependencies extends Pick<PlanDependencies, 'firstEventAt' | 'now' | 'group'> {
  readonly stream: StreamRows
  /** The most events that one statement should read; a default if left out. */
  readonly maxSliceEvents?: number
}

/** An event: its moment in milliseconds since 1970, and those of its fields that were asked for. */
export type ExportedRow = { readonly moment: number } & Readonly<
  Partial<Record<Exclude<EventField, 'timestamp'>, StoredValue>>
>

/** Events that are on their way. */
export interface ExportedEvents extends Pick<ExportResponse, 'period' | 'query'> {
  /** The events, some at a time. It throws an ApiError if they break off. */
  readonly batches: AsyncGenerator<readonly ExportedRow[]>
}

/**
 * Reads the events that a validated request asks for, and hands them to `consume`. What fails before there is an event, fails before
 * `consume` is called.
 *
 * @throws ApiError PLAN_LIMIT_EXCEEDED, VALIDATION_ERROR for a pattern that only the store refuses, INTERNAL_ERROR for rows of another
 *   project or request, or what `firstEventAt`, `stream` or `consume` rejects with
 */
export async function exportEvents(
  request: ExportRequest,
  project: QueriedProject,
  dependencies: ExportDependencies,
  consume: (events: ExportedEvents) => Promise<void>,
): Promise<void> {
  const period = await resolveNow(resolveAllowedPeriod, request, project, dependencies)
  const asked = toExport(request, project.id, period, dependencies.group)
  const failure = withResolvers<never>()
  failure.promise.catch(() => undefined)
  const batches = readEvents(asked, request.limit ?? Infinity, dependencies, failure.reject)
  try {
    const first = await batches.next()
    const events = {
      period: formatPeriod(period),
      query: shapeRequest(request),
      batches: continueWith(first, batches),
    }
    // A statement may fail while the consumer waits for its client.
    await Promise.race([consume(events), failure.promise])
  } catch (error) {
    throw namePatterns(error, listPatternFields(request.filters))
  } finally {
    await batches.return(undefined)
  }
}

const toExport = (
  request: ExportRequest,
  projectId: string,
  period: Period,
  group: ShardGroup | undefined,
): Export => ({
  query: resolveFilteredQuery(request, { metrics: ['events'], group_by: [] }, projectId, period),
  fields: request.fields,
  nonce: createNonce(),
  group,
})

const shapeRequest = ({
  date_range,
  filters,
  filtersOperator,
  fields,
  limit,
  time_zone,
}: ExportRequest): ExportResponse['query'] => ({
  date_range,
  filters,
  filtersOperator,
  fields,
  ...(limit === undefined ? {} : { limit }),
  ...(time_zone === undefined ? {} : { time_zone }),
})

/** Reads the events slice by slice. A statement begins when the rows of the one before have been taken. */
async function* readEvents(
  asked: Export,
  limit: number,
  { stream, maxSliceEvents }: Pick<ExportDependencies, 'stream' | 'maxSliceEvents'>,
  onFailure: (error: unknown) => void,
): AsyncGenerator<readonly ExportedRow[], undefined> {
  const origin = { projectId: asked.query.projectIds[0], nonce: asked.nonce }
  const count: CountEvents = async (period, bucketMs) => {
    const statement = buildCountStatement(asked, period, bucketMs)
    const counts: BucketCount[] = []
    for await (const rows of pullRows<BucketCount & MarkedRow>(stream, statement, onFailure)) {
      requireOrigin(rows, origin)
      counts.push(...rows)
    }
    return counts
  }
  let left = limit
  for await (const slice of cutPeriod(asked.query.period, count, maxSliceEvents)) {
    const most = Math.min(left, MAX_STATEMENT_ROWS)
    const statement = buildEventsStatement(asked, slice, most)
    const rows = pullRows<ExportedRow & MarkedRow>(stream, statement, onFailure)
    let read = 0
    try {
      let next = await rows.next()
      for (; next.done !== true; next = await rows.next()) {
        requireOrigin(next.value, origin)
        read += next.value.length
        yield next.value
      }
      left -= read
      requireAllRows(read, left === 0 ? Math.min(next.value, most) : next.value)
    } finally {
      await rows.return(0)
    }
    if (left === 0) return
  }
}

/**
 * Runs a statement. It ends when its rows have been read, or when the generator is closed.
 *
 * @param onFailure is called when the statement fails, also while its rows are not being read
 * @returns the number of rows before LIMIT
 */
async function* pullRows<Stored>(
  stream: StreamRows,
  statement: Statement,
  onFailure: (error: unknown) => void,
): AsyncGenerator<readonly Stored[], number, undefined> {
  const opened = withResolvers<StoredRows<Stored>>()
  const finished = withResolvers<undefined>()
  const running = stream<Stored>(statement, async (rows) => {
    opened.resolve(rows)
    await finished.promise
  }).catch((error: unknown) => {
    opened.reject(error)
    onFailure(error)
  })
  try {
    return yield* await opened.promise
  } finally {
    finished.resolve(undefined)
    await running
  }
}
