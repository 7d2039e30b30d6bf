/** The numbers of the chart as a table. */
import type { Series } from '../../chart/series.js'
import { nameBucket } from '../../format/dates.js'
import { METRICS } from '../../questions/metrics.js'
import { Change, Value } from '../shared/value.js'

export interface SeriesTableProps {
  readonly series: Series
  readonly isOld: boolean
}

export function SeriesTable({ series, isOld }: SeriesTableProps) {
  const { metric, points, size, isCompared } = series
  return (
    <details class="as-table">
      <summary>As a table</summary>
      <div tabIndex={0} role="region" aria-label="The numbers of the chart">
        <table class={isOld ? 'old' : ''}>
          <thead>
            <tr>
              <th scope="col">{size}</th>
              <th scope="col">{METRICS[metric].name}</th>
              {isCompared && <th scope="col">Before</th>}
              {isCompared && <th scope="col">Change</th>}
            </tr>
          </thead>
          <tbody>
            {points.map(({ label, value, compared, change }) => (
              <tr key={label} data-value={label}>
                <th scope="row">{nameBucket(label, size)}</th>
                <td>
                  <Value metric={metric} value={value} />
                </td>
                {isCompared && (
                  <td>
                    <Value metric={metric} value={compared} />
                  </td>
                )}
                {isCompared && (
                  <td>
                    <Change metric={metric} change={change} />
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}
