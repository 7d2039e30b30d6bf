/** The rows of a tab. A click filters by one. */
import type { QueryAnswer } from '../../client/contract.js'
import { nameValue } from '../../format/values.js'
import type { Tab } from '../../questions/panels.js'
import { addFilter } from '../../state/changes.js'
import type { Parts } from '../shared/parts.js'
import { Bars } from './bars.js'

export interface RowsProps extends Pick<Parts, 'state' | 'change'> {
  readonly tab: Tab
  readonly answer: QueryAnswer
  readonly isOld: boolean
}

export function Rows({ tab, answer: { data, totals }, isOld, state, change }: RowsProps) {
  const { id: field, metric, name } = tab
  if (data.length === 0)
    return <p class={isOld ? 'empty old' : 'empty'}>{describeNothing(state.filters.length > 0)}</p>
  const bars = data.map(({ group, metrics }) => {
    const value = group[field] ?? ''
    const filter = (): void => change(addFilter({ field, operator: 'is', values: [value] }))
    const label = (
      <button class="label" title={value} onClick={filter}>
        {nameValue(field, value)}
      </button>
    )
    return { group: value, label, count: metrics[metric] ?? 0 }
  })
  return (
    <Bars
      title={name}
      metric={metric}
      bars={bars}
      longest={Math.max(...bars.map(({ count }) => count))}
      whole={totals?.metrics[metric] ?? 0}
      isOld={isOld}
    />
  )
}

/** Says why there is no row. */
const describeNothing = (isFiltered: boolean): string =>
  isFiltered ? 'Nothing in this period matches the filters.' : 'Nothing in this period.'
