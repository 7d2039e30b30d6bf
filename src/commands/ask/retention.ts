/** The command `tallyhouse ask retention`. */
import { Option } from 'commander'
import { omitUndefined } from '../shared/options.js'
import type { AddCommand, CommandContext } from '../shared/context.js'
import { buildSharedBody } from './build-body.js'
import { formatCohortsAsCsv, formatCohortsAsTable } from './format-cohorts.js'
import {
  addBodyAndFormat,
  addFilters,
  addPeriod,
  parseNumber,
  refuseEarlierOptions,
  SERVICE_HELP,
  type SharedOptions,
} from './options.js'
import { printAnswer, requestAnswer } from './request-answer.js'

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
  const answer = await requestAnswer(context, PATH, options.body ?? buildRetentionBody(options))
  printAnswer(context, answer, options.format, {
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
