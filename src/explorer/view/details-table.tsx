/** The table of the dialog: a row for each value, a column for each metric. A click on a value filters by it. */
import { useEffect, useRef } from 'preact/hooks'
import type { Row, ShownMetric } from '../client/contract.js'
import { listDetailsMetrics, type Order } from '../queries/details.js'
import { METRICS, nameMetric, subtract } from '../queries/metrics.js'
import type { Tab } from '../queries/panels.js'
import { addFilter, changeDetails } from '../state/changes.js'
import type { DetailsView } from '../state/state.js'
import type { Parts } from './parts.js'
import { Change, Difference, FieldValue, Value } from './value.js'

interface DetailsTableProps extends Pick<Parts, 'state' | 'change' | 'site'> {
  readonly tab: Tab
  readonly order: Order
  readonly view: DetailsView
  readonly rows: readonly Row[]
  /** Whether the rows are those of the query before. */
  readonly isOld: boolean
  readonly page: number
}

export function DetailsTable({
  tab,
  order,
  view,
  rows,
  isOld,
  page,
  state,
  change,
  site,
}: DetailsTableProps) {
  const scroller = useRef<HTMLDivElement>(null)
  useEffect(() => scroller.current?.scrollTo(0, 0), [page, order.orderBy, order.direction])
  const { id: field, name } = tab
  const metrics = listDetailsMetrics(tab, state)
  const sort = (by: Order): void => change(changeDetails(by))
  return (
    <div class="details-rows" ref={scroller}>
      <table class={isOld ? 'old' : ''}>
        <thead>
          <tr>
            <SortHeader column={field} name={name} order={order} onSort={sort} />
            {metrics.map((metric) => (
              <SortHeader
                key={metric}
                column={metric}
                name={nameMetric(metric, field)}
                order={order}
                onSort={sort}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ group, metrics: values, comparison }) => {
            const value = group[field] ?? ''
            return (
              <tr key={value} data-value={value}>
                <th scope="row">
                  <FieldValue
                    {...{ field, value, site }}
                    onFilter={() => change(addFilter({ field, operator: 'is', values: [value] }))}
                  />
                </th>
                {metrics.map((metric) => (
                  <td key={metric} data-metric={metric}>
                    <Cell {...{ metric, view, comparison }} value={values[metric]} />
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

interface CellProps extends Pick<DetailsTableProps, 'view'> {
  readonly metric: ShownMetric
  readonly value: number | null | undefined
  readonly comparison: Row['comparison']
}

/** A value with its change; or what the dialog is about, with the value below it. */
function Cell({ metric, view, value, comparison }: CellProps) {
  const change = comparison?.change[metric]
  if (view === 'value') {
    return (
      <>
        <Value metric={metric} value={value} />
        <Change metric={metric} change={change} />
      </>
    )
  }
  return (
    <>
      {view === 'difference' ? (
        <Difference metric={metric} difference={subtract(value, comparison?.metrics[metric])} />
      ) : typeof change === 'number' ? (
        <Change metric={metric} change={change} />
      ) : (
        <span class="none">–</span>
      )}
      <small>
        <Value metric={metric} value={value} />
      </small>
    </>
  )
}

interface SortHeaderProps {
  readonly column: string
  readonly name: string
  readonly order: Order
  readonly onSort: (order: Order) => void
}

/** The head of a column. Its button sorts by the column: numbers from the highest, values by name. A second click reverses the order. */
export function SortHeader({ column, name, order, onSort }: SortHeaderProps) {
  const isSorted = order.orderBy === column
  const first = column in METRICS ? 'desc' : 'asc'
  const direction = isSorted ? (order.direction === 'asc' ? 'desc' : 'asc') : first
  const sorted = order.direction === 'asc' ? 'ascending' : 'descending'
  return (
    <th scope="col" aria-sort={isSorted ? sorted : 'none'}>
      <button onClick={() => onSort({ orderBy: column, direction })}>
        {name}
        <span aria-hidden="true">{isSorted ? (order.direction === 'asc' ? ' ↑' : ' ↓') : ''}</span>
      </button>
    </th>
  )
}
