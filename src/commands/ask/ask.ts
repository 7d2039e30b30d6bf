/** The command `tallyhouse ask`. */
import { Option, type Command } from 'commander'
import type { AddCommand, CommandContext } from '../shared/context.js'
import { appendValue } from '../shared/options.js'
import { buildBody, type QueryOptions } from './build-body.js'
import { formatRowsAsTable } from './format-rows.js'
import { addFunnel } from './funnel.js'
import { addJourneys } from './journeys.js'
import {
  addBodyAndFormat,
  addFilters,
  addPeriod,
  parseLimit,
  parseNumber,
  SERVICE_HELP,
  type SharedOptions,
} from './options.js'
import { noteUnknownValues } from './note-unknown-values.js'
import { askAndPrint } from './send-request.js'
import { addRetention } from './retention.js'

type AskOptions = SharedOptions & QueryOptions

const PATH = '/v1/analytics/query'

export const addAsk: AddCommand = (program, context) => {
  const ask = program.command('ask').description('Query a running service with an API key')
  addQueryOptions(ask)
    .addHelpText('after', SERVICE_HELP)
    // The options of a subcommand stand behind its name.
    .enablePositionalOptions()
    .action(async (options: AskOptions) => askQuery(context, options))
  addRetention(ask, context)
  addFunnel(ask, context)
  addJourneys(ask, context)
}

function addQueryOptions(command: Command): Command {
  addPeriod(command, '30days')
    .option(
      '--metrics <names>',
      'Metrics, separated by commas, such as "users,sum of event:prop:amount as revenue"',
      splitList,
    )
    .option('--group-by <field>', 'Grouping, such as country or interval:day')
    .option('--then-by <field>', 'Further grouping; repeatable, up to three', appendValue)
    .option('--top <count>', 'Number of groups of --then-by that have a time series', parseNumber)
    .option('--order-by <field>', 'Field to order by, with :asc or :desc')
  addFilters(command)
    .option(
      '--compare <period>',
      'Period to compare with: previous_period, previous_year, or as for --period two dates',
    )
    .addOption(
      new Option('--align <unit>', 'Compare the same weekdays instead of dates').choices([
        'weekday',
      ]),
    )
    .option('--time-zone <zone>', 'Time zone of dates and buckets, such as Europe/Berlin')
    .option('--limit <count>', 'Number of rows, or all', parseLimit)
    .option('--offset <count>', 'Number of rows to skip', parseNumber)
  return addBodyAndFormat(command, PATH)
}

const splitList = (value: string): readonly string[] => value.split(',').map((one) => one.trim())

/** @throws UserError if the service refuses the query or does not respond; details are noted first */
async function askQuery(context: CommandContext, options: AskOptions): Promise<void> {
  const { format } = options
  const body = options.body ?? buildBody(options)
  const rows = await askAndPrint(context, {
    path: PATH,
    body,
    format,
    formatRows: formatRowsAsTable,
  })
  if (format === 'table' && typeof body !== 'string') await noteUnknownValues(context, body, rows)
}
