/** Requests the response to a query, and prints it. */
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { readService } from '../../config/config.js'
import { UserError } from '../../lib/errors.js'
import { isRecord } from '../../lib/records.js'
import type { CommandContext } from '../shared/context.js'
import { formatJson } from '../shared/output.js'
import { requireReadable } from '../shared/require-readable.js'
import type { Format } from './options.js'
import { askService, type ServiceResponse } from './service-client.js'

/** The parts of a response that commands read. */
export interface ResponseBody {
  readonly data: readonly unknown[]
  readonly pagination?: { readonly returned: number; readonly total: number }
  readonly comparison?: { readonly period: { readonly from: string; readonly to: string } }
}

type FormatRows = (rows: readonly unknown[]) => string

const STDIN = '-'

/**
 * Asks the service.
 *
 * @param body the body, or the name of its file; `-` is standard input
 * @throws UserError if the service refuses the question or does not respond; the fields that are invalid are noted first
 */
export async function sendRequest(
  context: CommandContext,
  path: string,
  body: object | string,
): Promise<ResponseBody> {
  const service = readService()
  const read = typeof body === 'string' ? await readBody(body) : body
  return requireBody(context, await askService(service, path, read))
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

const isResponseBody = (body: unknown): body is ResponseBody =>
  isRecord(body) && Array.isArray(body['data'])

function requireBody({ note }: CommandContext, { status, body }: ServiceResponse): ResponseBody {
  if (status === 200 && isResponseBody(body)) return body
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

/** Prints a response: the rows as a table or as CSV, or all of it as JSON. Nothing for no rows. */
export function printResponse(
  { print }: CommandContext,
  response: ResponseBody,
  format: Format,
  formats: Readonly<Record<Exclude<Format, 'json'>, FormatRows>>,
): void {
  if (format === 'json') print(formatJson(response))
  else if (response.data.length > 0) print(formats[format](response.data))
}
