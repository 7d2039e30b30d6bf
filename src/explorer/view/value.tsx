/** A number on the page. Its exact value is that of the response, also where it is shown shorter. */
import type { MetricName } from '../client/contract.js'
import { formatDifference, formatMetricChange, METRICS } from '../queries/metrics.js'

export function Value({
  metric,
  value,
}: {
  readonly metric: MetricName
  readonly value: number | null | undefined
}) {
  if (value === null || value === undefined) return <span class="none">–</span>
  return (
    <data value={String(value)} title={String(value)}>
      {METRICS[metric].format(value)}
    </data>
  )
}

/** Whether a change of a metric is for the better. */
function nameTrend(metric: MetricName, change: number): string {
  const isBetter = METRICS[metric].isLowerBetter === true ? change < 0 : change > 0
  return change === 0 ? 'same' : isBetter ? 'better' : 'worse'
}

/** A change beside a value: better or worse, or neither. */
export function Change({
  metric,
  change,
  title,
}: {
  readonly metric: MetricName
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
  readonly metric: MetricName
  readonly difference: number | undefined
}) {
  if (difference === undefined) return <span class="none">–</span>
  return (
    <data class={nameTrend(metric, difference)} value={String(difference)}>
      {formatDifference(metric, difference)}
    </data>
  )
}
