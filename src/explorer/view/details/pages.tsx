/** Which rows are shown, and the way to the others. */
import { describeRows, findLastPage } from '../../format/numbers.js'
import type { QueryAnswer } from '../../client/contract.js'

export interface PagesProps {
  readonly pagination: QueryAnswer['pagination']
  /** @param page from 0 */
  readonly onPage: (page: number) => void
}

export function Pages({ pagination, onPage }: PagesProps) {
  const page = pagination.offset / pagination.limit
  const last = findLastPage(pagination)
  return (
    <div class="pages" role="group" aria-label="Pages">
      <p role="status">{describeRows(pagination)}</p>
      <button
        class="control"
        disabled={page === 0}
        onClick={() => onPage(Math.min(page - 1, last))}
      >
        ‹ Previous
      </button>
      <button class="control" disabled={page >= last} onClick={() => onPage(page + 1)}>
        Next ›
      </button>
    </div>
  )
}
