/** The options that `tallyhouse ask` and its subcommands share. */
import { InvalidArgumentError, Option, type Command } from 'commander'
import { SERVICE_VARIABLES } from '../../config/service-address.js'
import { appendValue } from '../shared/options.js'
import { formatTable } from '../shared/output.js'

export interface SharedOptions {
  readonly period: string
  readonly filter?: readonly string[]
  readonly any?: boolean
  readonly body?: string
  readonly format: Format
}

const FORMATS = ['table', 'csv', 'ndjson', 'json'] as const
export type Format = (typeof FORMATS)[number]

const PERIOD_HELP = 'Preset such as 30days, "last 45 days", or 2026-01-01..2026-01-31'

/** Adds the option for the period. */
export const addPeriod = (command: Command, byDefault: string): Command =>
  command.option('--period <period>', PERIOD_HELP, byDefault)

/** Adds the options for filters. */
export const addFilters = (command: Command): Command =>
  command
    .option('--filter <filter>', 'Such as "country is DE,FR", or JSON; repeatable', appendValue)
    .option('--any', 'Count events that satisfy any of the filters instead of all')

/** Adds the options that every query ends with. A body replaces all options that were added before. */
export function addBodyAndFormat(command: Command, path: string): Command {
  const replaced = command.options.map((option) => option.attributeName())
  return command
    .addOption(
      new Option(
        '--body <file>',
        `Body of POST ${path} instead of options; - reads standard input`,
      ).conflicts(replaced),
    )
    .addOption(
      new Option('--format <format>', 'Format of the output').choices(FORMATS).default('table'),
    )
    .addOption(new Option('--json', 'Print JSON').implies({ format: 'json' }))
}

/** What the help of every query ends with. */
export const SERVICE_HELP = `
Filters have a field, an operator and values: "page:path starts with /blog/", "event:prop:plan is not free". Operators:
is, is not, contains, does not contain, starts with, ends with, matches, does not match, is set. "visit with" or
"visit without" before a filter selects the visits with an event that satisfies it, or without one.

Environment variables:
${formatTable(Object.entries(SERVICE_VARIABLES).map(([name, help]) => [`  ${name}`, help]))}

Exit codes: 0 answered, 1 refused or not reached, 2 wrong options.`

/** @throws InvalidArgumentError */
export const parseLimit = (value: string): number | 'all' =>
  value === 'all' ? value : parseNumber(value)

/** @throws InvalidArgumentError */
export function parseNumber(value: string): number {
  if (/^\d{1,10}$/.test(value)) return Number(value)
  throw new InvalidArgumentError('Expected a whole number.')
}

/** Ends the command with an error if options stand before its name, where they belong to `ask`. */
export function refuseEarlierOptions(command: Command): void {
  const { parent } = command
  const early = parent?.options.find(
    (option) => parent.getOptionValueSource(option.attributeName()) === 'cli',
  )
  if (early === undefined) return
  command.error(`error: option '${early.flags}' must follow '${command.name()}'`)
}
