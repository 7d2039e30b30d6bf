/** The command `tallyhouse ask funnel`. */
import { InvalidArgumentError } from 'commander'
import { appendValue, omitUndefined } from '../shared/options.js'
import type { AddCommand } from '../shared/context.js'
import { buildSharedBody } from './build-body.js'
import { formatRowsAsTable } from './format-rows.js'
import {
  addBodyAndFormat,
  addFilters,
  addPeriod,
  refuseEarlierOptions,
  SERVICE_HELP,
  type SharedOptions,
} from './options.js'
import { parseFilter } from './parse-filter.js'
import { askAndPrint } from './send-request.js'

interface FunnelOptions extends SharedOptions {
  readonly step?: readonly string[]
  readonly within?: string | number
  readonly timeZone?: string
}

const PATH = '/v1/analytics/funnel'
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

export const addFunnel: AddCommand = (ask, context) => {
  const command = ask
    .command('funnel')
    .description('Count the users who go through steps, one after the other')
  addPeriod(command, '30days')
    .option('--step <filter>', 'Step, as --filter; give 2 to 10 in order', appendValue)
    .option('--within <time>', 'Time for all steps: visit, or such as 30m, 12h, 7d', parseWindow)
  addFilters(command).option('--time-zone <zone>', 'Time zone of dates, such as Europe/Berlin')
  addBodyAndFormat(command, PATH)
    .addHelpText('after', SERVICE_HELP)
    .action(async (options: FunnelOptions) => {
      refuseEarlierOptions(command)
      const body = options.body ?? buildFunnelBody(options)
      const { format } = options
      await askAndPrint(context, { path: PATH, body, format, formatRows: formatRowsAsTable })
    })
}

/**
 * Parses the time that steps may take: `visit`, or a number with a unit, which is returned in seconds.
 *
 * @throws InvalidArgumentError
 */
export function parseWindow(text: string): string | number {
  if (text === 'visit') return text
  const { count, unit } = /^(?<count>[1-9]\d{0,8})(?<unit>[smhd])$/.exec(text)?.groups ?? {}
  if (count !== undefined && unit !== undefined) return Number(count) * (SECONDS[unit] ?? 1)
  throw new InvalidArgumentError('Expected visit, or a time such as 90s, 30m, 12h or 7d.')
}

/** @throws UserError for a filter of another form */
export const buildFunnelBody = (options: Omit<FunnelOptions, 'format'>): object =>
  omitUndefined({
    steps: (options.step ?? []).map((step) => ({ filters: [parseFilter(step)] })),
    within: options.within,
    time_zone: options.timeZone,
    ...buildSharedBody(options),
  })
