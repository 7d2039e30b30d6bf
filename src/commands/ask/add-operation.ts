/** The frame of the subcommands of `tallyhouse ask`: each asks one operation. */
import type { Command } from 'commander'
import type { AddCommand } from '../shared/context.js'
import { formatRowsAsTable } from './format-rows.js'
import {
  addBodyAndFormat,
  addFilters,
  addPeriod,
  refuseEarlierOptions,
  SERVICE_HELP,
  type SharedOptions,
} from './options.js'
import { askAndPrint } from './send-request.js'

interface AskedOperation<Options> {
  readonly name: string
  readonly description: string
  readonly path: string
  /** The period by default. */
  readonly period: string
  /** Adds the options that only this operation has. */
  readonly addOptions: (command: Command) => Command
  readonly hasTimeZone?: true
  /** @throws UserError for a filter of another form */
  readonly buildBody: (options: Options) => object
  /** Formats the rows of the response; a column for each member if left out. */
  readonly formatRows?: (rows: readonly unknown[]) => string
}

/** Creates what adds the subcommand of an operation. */
export const addOperation =
  <Options extends SharedOptions>(operation: AskedOperation<Options>): AddCommand =>
  (ask, context) => {
    const { name, description, path, period, addOptions, hasTimeZone, buildBody } = operation
    const { formatRows = formatRowsAsTable } = operation
    const command = ask.command(name).description(description)
    addFilters(addOptions(addPeriod(command, period)))
    if (hasTimeZone)
      command.option('--time-zone <zone>', 'Time zone of dates, such as Europe/Berlin')
    addBodyAndFormat(command, path)
      .addHelpText('after', SERVICE_HELP)
      .action(async (options: Options) => {
        refuseEarlierOptions(command)
        const body = options.body ?? buildBody(options)
        await askAndPrint(context, { path, body, format: options.format, formatRows })
      })
  }
