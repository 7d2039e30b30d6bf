/** How many of the users who came first in a week came back in the weeks after it. */
import type { RetentionResponse } from '../client/contract.js'
import { nameTick } from '../format/dates.js'
import { formatCount, formatShare } from '../format/numbers.js'

interface RetentionGridProps {
  readonly response: RetentionResponse
  readonly isOld: boolean
}

export function RetentionGrid({ response, isOld }: RetentionGridProps) {
  const { interval, intervals } = response.query
  const cohorts = response.data.filter(({ size }) => size !== null && size > 0)
  const name = interval.charAt(0).toUpperCase() + interval.slice(1)
  if (cohorts.length === 0)
    return <p class={isOld ? 'empty old' : 'empty'}>Nobody came first in this period.</p>
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Retention">
      <table class={isOld ? 'grid old' : 'grid'}>
        <thead>
          <tr>
            <th scope="col">First {interval}</th>
            <th scope="col">Users</th>
            {Array.from({ length: intervals }, (_, i) => (
              <th key={i} scope="col">
                {name} {i + 1}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cohorts.map(({ start, size, counts }) => (
            <tr key={start}>
              <th scope="row">{nameTick(start, interval)}</th>
              <td>
                <data value={String(size)}>{formatCount(size ?? 0)}</data>
              </td>
              {counts.map((count, i) =>
                count === null ? (
                  <td key={i} />
                ) : (
                  <td key={i} class={`shade-${Math.round((9 * count) / (size ?? 1))}`}>
                    <data value={String(count)} title={`${count} users`}>
                      {formatShare(count, size ?? 0)}
                    </data>
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
