/** Sends a query to the service, and prints the response. */
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { readService } from '../../config/config.js'
import { MEDIA_TYPES } from '../../contract/response-formats.js'
import { formatCount } from '../../lib/counts.js'
import { UserError } from '../../lib/errors.js'
import { isRecord } from '../../lib/records.js'
import type { CommandContext } from '../shared/context.js'
import { formatJson } from '../shared/output.js'
import { requireReadable } from '../shared/require-readable.js'
import type { Format } from './options.js'
import { askService, type ServiceResponse } from './service-client.js'

/** A query for an operation, and how its response is printed. */
interface Query {
  readonly path: string
  /** The body, or the name of its file; `-` is standard input. */
  readonly body: object | string
  readonly format: Format
  readonly formatRows: (rows: readonly unknown[]) => string
}

/** What a response says besides its rows. */
interface Summary {
  readonly pagination?: { readonly returned: number; readonly total: number }
  readonly comparison?: { readonly period: { readonly from: string; readonly to: string } }
}

/** The body of a response in JSON. */
interface ResponseBody extends Summary {
  readonly data: readonly unknown[]
}

const STDIN = '-'

/**
 * Sends a query and prints the response: the rows as a table, or the response as the service writes it. Notes what rows do not
 * show.
 *
 * @returns the rows of a table; none for other formats
 * @throws UserError if the service refuses the query or does not respond; the fields that are invalid are noted first
 */
export async function askAndPrint(
  context: CommandContext,
  { path, body, format, formatRows }: Query,
): Promise<readonly unknown[]> {
  const service = readService()
  const request = typeof body === 'string' ? await readBody(body) : body
  // Only streams have all rows.
  const isAll = isRecord(request) && request['limit'] === 'all'
  const sent = format !== 'table' ? format : isAll ? 'ndjson' : 'json'
  const accept = MEDIA_TYPES[sent]
  const response = await askService(service, path, request, { accept })
  requireAccepted(context, response, accept)
  if (format === 'json') {
    context.print(formatJson(response.body))
    return []
  }
  const rows = format === 'table' ? readRows(response, sent) : []
  const printed = format === 'table' ? formatRows(rows) : response.text.replace(/\r?\n$/, '')
  if (printed !== '') context.print(printed)
  noteSummary(context, sent === 'json' ? (response.body as Summary) : readSummary(response.headers))
  return rows
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

/** @throws UserError for an error of the service, or a response that is not one of Tallyhouse, such as that of a proxy */
export function requireAccepted(
  { note }: CommandContext,
  { status, headers, body }: ServiceResponse,
  accept: string = MEDIA_TYPES.json,
): void {
  if (status === 200 && headers.get('Content-Type')?.startsWith(accept) === true) return
  const error = isRecord(body) ? body['error'] : undefined
  if (!isRecord(error)) {
    throw new UserError(`the response is not one of Tallyhouse (status ${status})`)
  }
  const { message, code, details } = error
  const faults = (Array.isArray(details) ? details : []) as readonly {
    readonly field: string
    readonly message: string
  }[]
  // The message says the first fault.
  if (faults.length <= 1) throw new UserError(`${String(code)}: ${String(message)}`)
  for (const fault of faults) note(`${fault.field}: ${fault.message}`)
  throw new UserError(`${String(code)}: ${formatCount(faults.length, 'field')} of the request`)
}

function readRows({ text: lines, body }: ServiceResponse, sent: string): readonly unknown[] {
  if (sent === 'json') return (body as ResponseBody).data
  return lines.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as unknown]))
}

/** Reads what formats other than JSON say in headers. */
function readSummary(headers: Headers): Summary {
  const total = Number(headers.get('Tally-Total'))
  const rest = total - Number(headers.get('Tally-Offset'))
  const limit = headers.get('Tally-Limit')
  const returned = limit === 'all' ? rest : Math.max(0, Math.min(rest, Number(limit)))
  const [from, to] = headers.get('Tally-Comparison')?.split('/') ?? []
  return {
    ...(limit !== null && { pagination: { returned, total } }),
    ...(from !== undefined && to !== undefined && { comparison: { period: { from, to } } }),
  }
}

function noteSummary({ note }: CommandContext, { pagination, comparison }: Summary): void {
  if (comparison !== undefined) {
    note(`compared with ${comparison.period.from} to ${comparison.period.to}`)
  }
  if (pagination === undefined) return
  const { returned, total } = pagination
  if (total === 0) note('no rows')
  else if (returned < total) {
    note(`${returned} of ${formatCount(total, 'row')}: --limit and --offset select others`)
  }
}
