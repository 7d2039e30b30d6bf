/** The rows of a tab: each a bar, a value and its share. A click filters by it. */
import { formatShare } from '../../format/numbers.js'
import { nameValue } from '../../format/values.js'
import { METRICS } from '../../questions/metrics.js'
import type { Tab } from '../../questions/panels.js'
import type { QueryAnswer } from '../../client/contract.js'
import { addFilter } from '../../state/changes.js'
import type { Parts } from '../shared/parts.js'
import { Value } from '../shared/value.js'

export interface RowsProps extends Parts {
  readonly tab: Tab
  readonly answer: QueryAnswer
  readonly isOld: boolean
}

export function Rows({ tab, answer, isOld, change }: RowsProps) {
  const { data, totals } = answer
  const { id: field, metric, name } = tab
  const whole = totals?.metrics[metric] ?? 0
  const highest = Math.max(1, ...data.map(({ metrics }) => metrics[metric] ?? 0))
  if (data.length === 0) return <p class="empty">Nothing in this period.</p>
  return (
    <table class={isOld ? 'rows old' : 'rows'}>
      <thead>
        <tr>
          <th scope="col">{name}</th>
          <th scope="col">{METRICS[metric].name}</th>
          <th scope="col">
            <span class="hidden">Share</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {data.map(({ group, metrics }) => {
          const value = group[field] ?? ''
          const count = metrics[metric] ?? 0
          return (
            <tr key={value} data-value={value}>
              <th scope="row">
                <span class="fill" style={{ width: `${(100 * count) / highest}%` }} />
                <button
                  class="label"
                  title={value}
                  onClick={() => change(addFilter({ field, operator: 'is', values: [value] }))}
                >
                  {nameValue(field, value)}
                </button>
              </th>
              <td>
                <Value metric={metric} value={count} />
              </td>
              <td class="share">{formatShare(count, whole)}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
