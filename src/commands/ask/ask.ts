/** The command `tallyhouse ask`. */
import { InvalidArgumentError, Option } from 'commander'
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { readService } from '../../config/config.js'
import { SERVICE_VARIABLES } from '../../config/service-address.js'
import { UserError } from '../../lib/errors.js'
import { isRecord } from '../../lib/records.js'
import type { AddCommand, CommandContext } from '../shared/context.js'
import { appendValue } from '../shared/options.js'
import { formatJson, formatTable } from '../shared/output.js'
import { requireReadable } from '../shared/require-readable.js'
import { buildBody, type QueryOptions } from './build-body.js'
import { formatRowsAsCsv, formatRowsAsTable } from './format-rows.js'
import { askService, type ServiceResponse } from './service-client.js'

interface AskOptions extends QueryOptions {
  readonly body?: string
  readonly format: 'table' | 'csv' | 'json'
}

const QUERY_PATH = '/v1/analytics/query'
const STDIN = '-'

export const addAsk: AddCommand = (program, context) => {
  program
    .command('ask')
    .description('Query a running service with an API key')
    .option('--period <period>', 'Preset such as 30days, or 2026-01-01..2026-01-31', '30days')
    .option('--metrics <names>', 'Metrics, separated by commas', splitList)
    .option('--group-by <field>', 'Grouping, such as country or interval:day')
    .option('--order-by <field>', 'Field to order by, with :asc or :desc')
    .option('--filter <filter>', 'Such as "country is DE,FR", or JSON; repeatable', appendValue)
    .option('--any', 'Count events that satisfy any of the filters instead of all')
    .option('--time-zone <zone>', 'Time zone of dates and buckets, such as Europe/Berlin')
    .option('--limit <count>', 'Number of rows', parseNumber)
    .option('--offset <count>', 'Number of rows to skip', parseNumber)
    .option(
      '--body <file>',
      'Body of POST /v1/analytics/query instead of options; - reads standard input',
    )
    .addOption(
      new Option('--format <format>', 'Format of the output')
        .choices(['table', 'csv', 'json'])
        .default('table'),
    )
    .addHelpText(
      'after',
      `\nEnvironment variables:\n${VARIABLES_HELP}\n\nExit codes: 0 answered, 1 refused or not reached, 2 wrong options.`,
    )
    .action(async (options: AskOptions) => ask(context, options))
}

const VARIABLES_HELP = formatTable(
  Object.entries(SERVICE_VARIABLES).map(([name, help]) => [`  ${name}`, help]),
)

const splitList = (value: string): readonly string[] => value.split(',').map((one) => one.trim())

function parseNumber(value: string): number {
  if (/^\d{1,10}$/.test(value)) return Number(value)
  throw new InvalidArgumentError('Expected a whole number.')
}

/** @throws UserError if the service refuses the query or does not respond; details are noted first */
async function ask(context: CommandContext, options: AskOptions): Promise<void> {
  const service = readService()
  const body = options.body === undefined ? buildBody(options) : await readBody(options.body)
  const rows = requireRows(context, await askService(service, QUERY_PATH, body))
  context.print(formatAnswer(rows, options.format))
  const { returned, total } = rows.pagination
  if (returned < total && options.format !== 'json') {
    context.note(`${returned} of ${total} rows: --limit and --offset select others`)
  }
}

async function readBody(file: string): Promise<unknown> {
  if (file !== STDIN) await requireReadable(file)
  const read = file === STDIN ? await text(process.stdin) : await readFile(file, 'utf8')
  try {
    return JSON.parse(read) as unknown
  } catch {
    throw new UserError('the body is not valid JSON')
  }
}

interface Rows {
  readonly data: readonly unknown[]
  readonly pagination: { readonly returned: number; readonly total: number }
}

const isAnswer = (body: unknown): body is Rows =>
  isRecord(body) && Array.isArray(body['data']) && isRecord(body['pagination'])

/** @throws UserError with the message of the service; the fields that are invalid are noted first */
function requireRows({ note }: CommandContext, { status, body }: ServiceResponse): Rows {
  if (status === 200 && isAnswer(body)) return body
  const error = isRecord(body) && isRecord(body['error']) ? body['error'] : {}
  const { message, code, details } = error
  if (Array.isArray(details)) {
    for (const one of details as readonly { field: string; message: string }[])
      note(`${one.field}: ${one.message}`)
  }
  throw new UserError(
    typeof message === 'string'
      ? `${String(code)}: ${message}`
      : `the response is not one of Tallyhouse (status ${status})`,
  )
}

function formatAnswer(answer: Rows, format: AskOptions['format']): string {
  switch (format) {
    case 'json':
      return formatJson(answer)
    case 'csv':
      return formatRowsAsCsv(answer.data)
    case 'table':
      return formatRowsAsTable(answer.data)
    default:
      return format satisfies never
  }
}
