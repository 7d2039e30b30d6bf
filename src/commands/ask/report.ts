/** The command `tallyhouse report`: the numbers of a period on one page, for an e-mail or a terminal. */
import { Option } from 'commander'
import { escapeHtml } from '../../http/site/assets.js'
import { readService } from '../../config/config.js'
import type { Project } from '../../contract/api.js'
import { UserError } from '../../lib/errors.js'
import type { AddCommand, CommandContext } from '../shared/context.js'
import { buildBody, type QueryOptions } from './build-body.js'
import { formatRowsAsTable, tabulateRows } from './format-rows.js'
import { addFilters, addPeriod, parseNumber, SERVICE_HELP } from './options.js'
import { requireAccepted } from './send-request.js'
import { askService } from './service-client.js'

interface ReportOptions extends Pick<QueryOptions, 'period' | 'filter' | 'any' | 'timeZone'> {
  readonly top: number
  readonly format: 'text' | 'html'
}

/** The parts of a report: what each of them shows. */
const SECTIONS: Readonly<Record<string, Pick<QueryOptions, 'metrics' | 'groupBy'>>> = {
  Totals: { metrics: ['users', 'visits', 'pageviews', 'bounce_rate'] },
  Channels: { metrics: ['users'], groupBy: 'channel' },
  Pages: { metrics: ['users', 'pageviews'], groupBy: 'page:path' },
  Countries: { metrics: ['users'], groupBy: 'country' },
  Events: { metrics: ['users', 'events'], groupBy: 'event:name' },
}

/** A report as it is printed. */
interface Report {
  readonly title: string
  readonly sections: readonly { readonly name: string; readonly rows: readonly unknown[] }[]
}

interface Result {
  readonly id: string
  readonly status: number
  readonly body: {
    readonly data: readonly unknown[]
    readonly period: { readonly from: string; readonly to: string }
    readonly error?: { readonly code: string; readonly message: string }
  }
}

export const addReport: AddCommand = (program, context) => {
  const command = program
    .command('report')
    .description('Print the numbers of a period, compared with the one before, for an e-mail')
  addFilters(addPeriod(command, '7days'))
    .option('--time-zone <zone>', 'Time zone of the days, such as Europe/Berlin')
    .option('--top <count>', 'Number of rows of each list', parseNumber, 10)
    .addOption(
      new Option('--format <format>', 'Format of the output')
        .choices(['text', 'html'])
        .default('text'),
    )
    .addHelpText('after', SERVICE_HELP)
    .action(async ({ format, ...options }: ReportOptions) => {
      const report = await readReport(context, options)
      context.print(format === 'html' ? formatHtml(report) : formatText(report))
    })
}

/** @throws UserError if the service refuses a query or does not respond: an incomplete report is not printed */
async function readReport(
  context: CommandContext,
  { top: limit, ...options }: Omit<ReportOptions, 'format'>,
): Promise<Report> {
  const queries = Object.entries(SECTIONS).map(([id, section]) => ({
    id,
    body: buildBody({ ...options, ...section, compare: 'previous_period', limit }),
  }))
  const service = readService()
  const [project, batch] = await Promise.all([
    askService(service, '/v1/project'),
    askService(service, '/v1/analytics/batch', { queries }),
  ])
  for (const response of [project, batch]) requireAccepted(context, response)
  const { results } = batch.body as { readonly results: readonly [Result, ...Result[]] }
  const failed = results.find(({ status }) => status !== 200)?.body.error
  if (failed !== undefined) throw new UserError(`${failed.code}: ${failed.message}`)
  const { period } = results[0].body
  const { name, timeZone } = (project.body as { readonly project: Project }).project
  return {
    title: `${name}, ${formatPeriod(period, options.timeZone ?? timeZone)}`,
    sections: results.map(({ id, body }) => ({ name: id, rows: body.data })),
  }
}

/** Names the days of a period: a single one once. */
function formatPeriod({ from, to }: Result['body']['period'], timeZone = 'UTC'): string {
  // Sweden writes dates as ISO 8601 does.
  const days = new Intl.DateTimeFormat('sv-SE', { timeZone })
  const [first, last] = [days.format(new Date(from)), days.format(new Date(to))]
  return first === last ? first : `${first} to ${last}`
}

function formatText({ title, sections }: Report): string {
  const parts = sections.map(({ name, rows }) => `${name}\n${formatRowsAsTable(rows) || '-'}`)
  return [title, ...parts].join('\n\n')
}

/** Formats a report as one HTML document. It aligns cells by an attribute, because mail programs drop styles. */
function formatHtml({ title, sections }: Report): string {
  const parts = sections.map(({ name, rows }) => `<h2>${name}</h2>\n${formatHtmlTable(rows)}`)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${escapeHtml(title)}</title>
<body style="font-family: sans-serif">
<h1>${escapeHtml(title)}</h1>
${parts.join('\n')}
</body>
</html>`
}

function formatHtmlTable(rows: readonly unknown[]): string {
  if (rows.length === 0) return '<p>-</p>'
  const { lines, isNumeric } = tabulateRows(rows)
  const written = lines.map((line, row) => {
    const tag = row === 0 ? 'th' : 'td'
    const cells = line.map(
      (cell, i) =>
        `<${tag} align="${isNumeric(i) ? 'right' : 'left'}">${escapeHtml(cell)}</${tag}>`,
    )
    return `<tr>${cells.join('')}</tr>`
  })
  return `<table cellpadding="4">\n${written.join('\n')}\n</table>`
}
