/** The metrics on the page: their names, how they are written, and whether more is better. */
import { formatCount, formatDuration, formatPercent } from '../format/numbers.js'
import type { MetricName } from '../client/contract.js'

export interface MetricInfo {
  readonly name: string
  /** Formats a value. */
  readonly format: (value: number) => string
  /** Whether a higher value is worse. */
  readonly isLowerBetter?: true
}

export const METRICS: Readonly<Record<MetricName, MetricInfo>> = {
  users: { name: 'Users', format: formatCount },
  new_users: { name: 'New users', format: formatCount },
  visits: { name: 'Visits', format: formatCount },
  pageviews: { name: 'Pageviews', format: formatCount },
  events: { name: 'Events', format: formatCount },
  bounce_rate: { name: 'Bounce rate', format: formatPercent, isLowerBetter: true },
  visit_duration: { name: 'Visit duration', format: formatDuration },
  views_per_visit: { name: 'Views per visit', format: (value) => value.toFixed(2) },
  events_per_visit: { name: 'Events per visit', format: (value) => value.toFixed(2) },
}
