/** The command `tallyhouse ask retention`. */
import { Option } from 'commander'
import type { Cohort } from '../../contract/api.js'
import { writeCsvRow } from '../../http/formats/csv.js'
import type { AddCommand, CommandContext } from '../shared/context.js'
import { omitUndefined } from '../shared/options.js'
import { formatTable } from '../shared/output.js'
import { buildSharedBody } from './build-body.js'
import {
  addBodyAndFormat,
  addFilters,
  addPeriod,
  parseNumber,
  refuseEarlierOptions,
  SERVICE_HELP,
  type SharedOptions,
} from './options.js'
import { printResponse, sendRequest } from './send-request.js'

interface RetentionOptions extends SharedOptions {
  readonly interval: string
  readonly intervals?: number
}

const PATH = '/v1/analytics/retention'

export const addRetention: AddCommand = (ask, context) => {
  const command = ask
    .command('retention')
    .description('Count the users who come back, by the interval in which they came first')
  addPeriod(command, '3months')
    .addOption(
      new Option('--interval <unit>', 'Interval in which users come first, and come back')
        .choices(['day', 'week', 'month'])
        .default('week'),
    )
    .option('--intervals <count>', 'Number of intervals after the first', parseNumber)
  addBodyAndFormat(addFilters(command), PATH)
    .addHelpText('after', SERVICE_HELP)
    .action(async (options: RetentionOptions) => {
      refuseEarlierOptions(command)
      await askRetention(context, options)
    })
}

/** @throws UserError if the service refuses the question or does not respond; details are noted first */
async function askRetention(context: CommandContext, options: RetentionOptions): Promise<void> {
  const response = await sendRequest(context, PATH, options.body ?? buildRetentionBody(options))
  printResponse(context, response, options.format, {
    table: formatCohortsAsTable,
    csv: formatCohortsAsCsv,
  })
}

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
  return formatTable([
    ['START', 'USERS', ...(cohorts[0]?.counts ?? []).map((_, i) => `+${i + 1}`)],
    ...cohorts.map(({ start, size, counts }) => [
      start.slice(0, 10),
      size === null ? '-' : String(size),
      ...counts.map((count) => formatShare(count, size)),
    ]),
  ])
}

const formatShare = (count: number | null, size: number | null): string => {
  if (count === null || size === null) return '-'
  return size === 0 ? String(count) : `${count} (${((100 * count) / size).toFixed(1)}%)`
}

/**
 * Formats cohorts as CSV with the columns of the service: a row for each cohort and interval, from that of the cohort itself on, which
 * is 0. Intervals that lie ahead have an empty field.
 */
export function formatCohortsAsCsv(rows: readonly unknown[]): string {
  const lines = (rows as readonly Cohort[]).flatMap(({ start, size, counts }) =>
    [size, ...counts].map((users, interval) => [start, size, interval, users]),
  )
  return [['cohort', 'size', 'interval', 'users'], ...lines].map(writeCsvRow).join('\r\n')
}
