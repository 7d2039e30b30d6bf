/** How many of the users who came first in a day, week or month came back in those after it. */
import { DAY_MS } from '../../lib/time.js'
import type { RetentionResponse } from '../client/contract.js'
import { nameTick } from '../format/dates.js'
import { formatCount, formatShare } from '../format/numbers.js'
import { set } from '../state/changes.js'
import { COHORTS, type Cohort } from '../state/state.js'
import { Select } from './controls.js'
import type { Parts } from './parts.js'

interface RetentionProps {
  readonly response: RetentionResponse
  readonly isOld: boolean
}

/** Whether an interval after that of a cohort ends after a period, so that some who will come back are not counted. */
function isCut(start: string, interval: Cohort, index: number, to: string): boolean {
  const date = new Date(start)
  const count = index + 2
  if (interval === 'month') date.setUTCMonth(date.getUTCMonth() + count)
  else date.setTime(date.getTime() + count * (interval === 'week' ? 7 : 1) * DAY_MS)
  return date.getTime() - 1000 > Date.parse(to)
}

/** Names the interval of a cohort. Of the first one, only those are counted who came within the period. */
const nameCohort = (start: string, interval: Cohort, from: string): string =>
  Date.parse(start) < Date.parse(from) ? `from ${nameTick(from, 'day')}` : nameTick(start, interval)

/** The grid, and the choice how long its intervals are. */
export function Retention({ change, ...props }: RetentionProps & Pick<Parts, 'change'>) {
  const { interval } = props.response.query
  return (
    <>
      <Grid {...props} />
      <p class="below">
        <Select
          label="Intervals of retention"
          name="cohort"
          options={COHORTS.map((one) => [one, `By ${one}`])}
          value={interval}
          onChange={(cohort) => change(set({ cohort }))}
        />{' '}
        <span class="quiet">Of UTC. Hatched: not yet over.</span>
      </p>
    </>
  )
}

function Grid({ response, isOld }: RetentionProps) {
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
              <th scope="row">{nameCohort(start, interval, response.period.from)}</th>
              <td>
                <data value={String(size)}>{formatCount(size ?? 0)}</data>
              </td>
              {counts.map((count, i) => (
                <GridCell
                  key={i}
                  {...{ count, size }}
                  isCut={isCut(start, interval, i, response.period.to)}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface GridCellProps {
  /** How many came back; null if the interval has not begun. */
  readonly count: number | null
  /** How many came first. */
  readonly size: number | null
  readonly isCut: boolean
}

function GridCell({ count, size, isCut: isPart }: GridCellProps) {
  if (count === null) return <td />
  const shade = Math.round((9 * count) / (size ?? 1))
  return (
    <td class={isPart ? `shade-${shade} cut` : `shade-${shade}`}>
      <data value={String(count)} title={`${count} users${isPart ? ' so far' : ''}`}>
        {formatShare(count, size ?? 0)}
      </data>
    </td>
  )
}
