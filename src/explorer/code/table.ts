/** A question whose answer is a file: all rows of it, as CSV. */
import type { Question } from '../client/contract.js'
import { ENDPOINTS } from './endpoints.js'

export interface TableRequest {
  readonly path: string
  readonly body: object
}

/** Builds the request for all rows of which the page shows some. */
export function buildTableRequest({
  operation,
  body,
}: Pick<Question, 'operation' | 'body'>): TableRequest {
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
export function nameTable(question: Question, period: string | null): string {
  const [from, to] = (period ?? '').split('/').map((moment) => moment.slice(0, 10))
  const dates =
    from === undefined || to === undefined ? [] : from === to ? [from] : [from, 'to', to]
  const words = [nameContent(question), ...dates].join('-')
  // Names of properties may be any text.
  return `${words.replace(/[^\p{L}\p{N}_.]+/gu, '-').slice(0, MAX_NAME)}.csv`
}

/** File systems take 255 bytes. */
const MAX_NAME = 60

function nameContent({ id, operation, body }: Question): string {
  if (operation === 'retention') return `retention-by-${body.interval}`
  if (operation === 'values') return `values-of-${body.field}`
  const [group] = body.group_by ?? []
  if (group === undefined) return id === 'cards' ? 'totals' : (body.metrics ?? []).join('-')
  return group.startsWith('interval:') ? `${(body.metrics ?? []).join('-')}-over-time` : group
}
