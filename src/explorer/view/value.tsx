/** A number on the page. Its exact value is that of the response, also where it is shown shorter. */
import type { ShownMetric } from '../client/contract.js'
import { flagOf, isPath, nameValue } from '../format/values.js'
import { formatDifference, formatMetricChange, METRICS } from '../queries/metrics.js'

export function Value({
  metric,
  value,
}: {
  readonly metric: ShownMetric
  readonly value: number | null | undefined
}) {
  if (value === null || value === undefined) return <span class="none">–</span>
  return (
    <data value={String(value)} title={String(value)}>
      {METRICS[metric].format(value)}
    </data>
  )
}

/** A value of a field in a row. A click filters by the value. A page has a link beside it that opens it. */
export function FieldValue({
  field,
  value,
  site,
  onFilter,
}: {
  readonly field: string
  readonly value: string
  /** The address of the site, if it is known. */
  readonly site: string | undefined
  readonly onFilter: () => void
}) {
  const name = nameValue(field, value)
  return (
    <>
      <button
        class="label"
        title={value}
        data-flag={flagOf(field, value) || undefined}
        onClick={onFilter}
      >
        {name}
      </button>
      {isPath(field) && site !== undefined && value.startsWith('/') && (
        <a
          class="visit"
          href={site + value}
          target="_blank"
          rel="noreferrer"
          aria-label={`Open ${name}`}
        />
      )}
    </>
  )
}

/** Whether a change of a metric is for the better. One that is shown as 0 is neither. */
function nameTrend(metric: ShownMetric, change: number): string {
  const isBetter = METRICS[metric].isLowerBetter === true ? change < 0 : change > 0
  return Math.abs(change) < 0.05 ? 'same' : isBetter ? 'better' : 'worse'
}

/** A change beside a value: better or worse, or neither. */
export function Change({
  metric,
  change,
  title,
}: {
  readonly metric: ShownMetric
  readonly change: number | null | undefined
  /** What is said of it where one points at it. */
  readonly title?: string
}) {
  if (change === null || change === undefined) return null
  return (
    <data class={`change ${nameTrend(metric, change)}`} value={String(change)} title={title}>
      {formatMetricChange(metric, change)}
    </data>
  )
}

/** The difference of a metric from the other period. */
export function Difference({
  metric,
  difference,
}: {
  readonly metric: ShownMetric
  readonly difference: number | undefined
}) {
  if (difference === undefined) return <span class="none">–</span>
  return (
    <data class={nameTrend(metric, difference)} value={String(difference)}>
      {formatDifference(metric, difference)}
    </data>
  )
}
