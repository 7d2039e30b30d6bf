/** What the footer of a part knows about its query: the request for all rows as a file, and how it was answered. */
import type { BatchResult, Explanation, Plan, Query } from '../client/contract.js'
import { ENDPOINTS } from './endpoints.js'

interface TableRequest {
  readonly path: string
  readonly body: object
}

/** Builds the request for all rows. The page shows only some of them. */
export function buildTableRequest({
  operation,
  body,
}: Pick<Query, 'operation' | 'body'>): TableRequest {
  const { path } = ENDPOINTS[operation]
  if (operation !== 'query' || !('group_by' in body)) return { path, body }
  // Members that are undefined are not sent.
  return { path, body: { ...body, offset: undefined, limit: 'all' } }
}

/**
 * Names the file, such as `country-2026-01-01-to-2026-01-31.csv`.
 *
 * @param period what the header `Tally-Period` says: the first and the last second
 */
export function nameTable(query: Query, period: string | null): string {
  const [from, to] = (period ?? '').split('/').map((moment) => moment.slice(0, 10))
  const dates =
    from === undefined || to === undefined ? [] : from === to ? [from] : [from, 'to', to]
  const content = ENDPOINTS[query.operation].nameContent?.(query as never)
  const words = [content ?? query.operation, ...dates].join('-')
  // Names of properties may be any text.
  return `${words.replace(/[^\p{L}\p{N}_.]+/gu, '-').slice(0, MAX_NAME)}.csv`
}

/** File systems take 255 bytes. */
const MAX_NAME = 60

/** Lists the relations that a plan reads, each once, in the order of the plan. */
export function listRelations(plan: Explanation['plan']): readonly string[] {
  const relations = [...findReads(plan)].map(({ relation }) => relation)
  return [...new Set(relations)]
}

/** Some plans lie within others, such as those of new users. */
function* findReads(value: unknown): Generator<Plan['reads'][number]> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'reads') yield* inner as Plan['reads']
    else yield* findReads(inner)
  }
}

const SOURCES = {
  hit: 'from cache',
  miss: undefined,
  coalesced: 'together with an equal query',
} as const

/** Describes how long a response took, such as `12 ms · from cache`; empty if the service does not say. */
export function describeTiming(timing: BatchResult['timing']): string {
  if (timing === undefined) return ''
  const { milliseconds, cache } = timing
  const rounded = milliseconds < 10 ? milliseconds : Math.round(milliseconds)
  const source = cache && SOURCES[cache]
  return [`${rounded} ms`, ...(source === undefined ? [] : [source])].join(' · ')
}
