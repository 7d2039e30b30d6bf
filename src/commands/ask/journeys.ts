/** The command `tallyhouse ask journeys`. */
import { appendValue, omitUndefined } from '../shared/options.js'
import type { AddCommand } from '../shared/context.js'
import { buildSharedBody } from './build-body.js'
import { formatRowsAsTable } from './format-rows.js'
import {
  addBodyAndFormat,
  addFilters,
  addPeriod,
  parseLimit,
  parseNumber,
  refuseEarlierOptions,
  SERVICE_HELP,
  type SharedOptions,
} from './options.js'
import { parseFilter } from './parse-filter.js'
import { askAndPrint } from './send-request.js'

interface JourneysOptions extends SharedOptions {
  readonly from?: readonly string[]
  readonly to?: readonly string[]
  readonly events?: boolean
  readonly depth?: number
  readonly limit?: number | 'all'
  readonly timeZone?: string
}

const PATH = '/v1/analytics/journeys'

export const addJourneys: AddCommand = (ask, context) => {
  const command = ask
    .command('journeys')
    .description('Count what visits do after a page or event, or before it')
  addPeriod(command, '30days')
    .option(
      '--from <filter>',
      'Where journeys start, as --filter; several must all hold',
      appendValue,
    )
    .option('--to <filter>', 'Where they lead to, instead of --from', appendValue)
    .option('--events', 'Count custom events as steps, too')
    .option('--depth <count>', 'Number of steps, 1 to 5', parseNumber)
    .option('--limit <count>', 'Number of pages and events of each step', parseLimit)
  addFilters(command).option('--time-zone <zone>', 'Time zone of dates, such as Europe/Berlin')
  addBodyAndFormat(command, PATH)
    .addHelpText('after', SERVICE_HELP)
    .action(async (options: JourneysOptions) => {
      refuseEarlierOptions(command)
      const body = options.body ?? buildJourneysBody(options)
      const { format } = options
      await askAndPrint(context, { path: PATH, body, format, formatRows: formatRowsAsTable })
    })
}

/** @throws UserError for a filter of another form */
export const buildJourneysBody = (options: Omit<JourneysOptions, 'format'>): object =>
  omitUndefined({
    from: buildAnchor(options.from),
    to: buildAnchor(options.to),
    kinds: options.events === true ? ['page', 'event'] : undefined,
    depth: options.depth,
    limit: options.limit,
    time_zone: options.timeZone,
    ...buildSharedBody(options),
  })

const buildAnchor = (filters: readonly string[] | undefined): object | undefined =>
  filters === undefined ? undefined : { filters: filters.map(parseFilter) }
