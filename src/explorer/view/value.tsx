/** A number on the page. Its exact value is that of the response, also where it is shown shorter. */
import type { MetricName } from '../client/contract.js'
import { formatMetricChange, METRICS } from '../queries/metrics.js'

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

/** A change beside a value: better or worse, or neither. */
export function Change({
  metric,
  change,
}: {
  readonly metric: MetricName
  readonly change: number | null | undefined
}) {
  if (change === null || change === undefined) return null
  const isBetter = METRICS[metric].isLowerBetter === true ? change < 0 : change > 0
  const trend = change === 0 ? 'same' : isBetter ? 'better' : 'worse'
  return (
    <data class={`change ${trend}`} value={String(change)}>
      {formatMetricChange(metric, change)}
    </data>
  )
}
