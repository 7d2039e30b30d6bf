/** The command `tallyhouse ask journeys`. */
import { appendValue, omitUndefined } from '../shared/options.js'
import { addOperation } from './add-operation.js'
import { buildSharedBody } from './build-body.js'
import { parseLimit, parseNumber, type SharedOptions } from './options.js'
import { parseFilter } from './parse-filter.js'

interface JourneysOptions extends SharedOptions {
  readonly from?: readonly string[]
  readonly to?: readonly string[]
  readonly events?: boolean
  readonly depth?: number
  readonly limit?: number | 'all'
  readonly timeZone?: string
}

export const addJourneys = addOperation<JourneysOptions>({
  name: 'journeys',
  description: 'Count what visits do after a page or event, or before it',
  path: '/v1/analytics/journeys',
  period: '30days',
  addOptions: (command) =>
    command
      .option(
        '--from <filter>',
        'Where journeys start, as --filter; several must all hold',
        appendValue,
      )
      .option('--to <filter>', 'Where they lead to, instead of --from', appendValue)
      .option('--events', 'Count custom events as steps, too')
      .option('--depth <count>', 'Number of steps, 1 to 5', parseNumber)
      .option('--limit <count>', 'Number of pages and events of each step', parseLimit),
  hasTimeZone: true,
  buildBody: (options) => buildJourneysBody(options),
})

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
