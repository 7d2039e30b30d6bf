/** A table of groups: each a bar, a value and its share. */
import type { ComponentChildren } from 'preact'
import type { MetricName } from '../../client/contract.js'
import { formatShare } from '../../format/numbers.js'
import { METRICS } from '../../questions/metrics.js'
import { Value } from '../shared/value.js'

export interface Bar {
  /** The group, exactly. */
  readonly group: string
  readonly label: ComponentChildren
  readonly count: number
}

export interface BarsProps {
  /** What the groups are. */
  readonly title: ComponentChildren
  readonly metric: MetricName
  readonly bars: readonly Bar[]
  /** The count whose bar has the full width. */
  readonly longest: number
  /** The count that shares are of. */
  readonly whole: number
  readonly isOld: boolean
}

export function Bars({ title, metric, bars, longest, whole, isOld }: BarsProps) {
  return (
    <table class={isOld ? 'rows old' : 'rows'}>
      <thead>
        <tr>
          <th scope="col">{title}</th>
          <th scope="col">{METRICS[metric].name}</th>
          <th scope="col">
            <span class="hidden">Share</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {bars.map(({ group, label, count }) => (
          <tr key={group} data-value={group}>
            <th scope="row">
              <span
                class="fill"
                style={{ width: `${longest === 0 ? 0 : (100 * count) / longest}%` }}
              />
              {label}
            </th>
            <td>
              <Value metric={metric} value={count} />
            </td>
            <td class="share">{formatShare(count, whole)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
