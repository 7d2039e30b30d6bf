/** The command `tallyhouse ask retention`. */
import { Option } from 'commander'
import type { Cohort } from '../../contract/api.js'
import { formatNumber } from '../../lib/counts.js'
import { omitUndefined } from '../shared/options.js'
import { formatTable } from '../shared/output.js'
import { addOperation } from './add-operation.js'
import { buildSharedBody } from './build-body.js'
import { parseNumber, type SharedOptions } from './options.js'

interface RetentionOptions extends SharedOptions {
  readonly interval: string
  readonly intervals?: number
}

export const addRetention = addOperation<RetentionOptions>({
  name: 'retention',
  description: 'Count the users who come back, by the interval in which they came first',
  path: '/v1/analytics/retention',
  period: '3months',
  addOptions: (command) =>
    command
      .addOption(
        new Option('--interval <unit>', 'Interval in which users come first, and come back')
          .choices(['day', 'week', 'month'])
          .default('week'),
      )
      .option('--intervals <count>', 'Number of intervals after the first', parseNumber),
  buildBody: (options) => buildRetentionBody(options),
  formatRows: (rows) => formatCohortsAsTable(rows),
})

/** @throws UserError for a filter of another form */
export const buildRetentionBody = (options: Omit<RetentionOptions, 'format'>): object =>
  omitUndefined({
    interval: options.interval,
    intervals: options.intervals,
    ...buildSharedBody(options),
  })

/** Formats one line per cohort: its first day, its users, and how many came back in each interval after it, with their share. */
export function formatCohortsAsTable(rows: readonly unknown[]): string {
  const cohorts = rows as readonly Cohort[]
  return formatTable(
    [
      ['START', 'USERS', ...(cohorts[0]?.counts ?? []).map((_, i) => `+${i + 1}`)],
      ...cohorts.map(({ start, size, counts }) => [
        start.slice(0, 10),
        size === null ? '-' : formatNumber(size),
        ...counts.map((count) => formatShare(count, size)),
      ]),
    ],
    (column) => column > 0,
  )
}

const formatShare = (count: number | null, size: number | null): string => {
  if (count === null || size === null) return '-'
  if (size === 0) return String(count)
  return `${formatNumber(count)} (${((100 * count) / size).toFixed(1).padStart(4)}%)`
}
