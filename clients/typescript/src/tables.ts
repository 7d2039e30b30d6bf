/** Tables: the responses to operations and exports of events, as streams of bytes, as files and as objects. */
import type { components } from '../../../generated/openapi.js'
import type {
  ExportedEvent,
  ExportRequest,
  FunnelRequest,
  JourneysRequest,
  Period,
  RetentionRequest,
  ValuesRequest,
} from './contract.js'
import { replaceFile } from './files.js'
import type { Ask, Reader, RequestOptions } from './http.js'
import { describeFailure, IncompleteResponseError, type Result } from './result.js'
import type { Checked, FlatRow, QueryRequest } from './rows.js'
import { cancelStream, openStream, readObjects, readParts } from './streams.js'

type Schemas = components['schemas']

const MEDIA_TYPES = {
  json: 'application/json',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
} as const

/** The formats of an export. */
export type ExportFormat = keyof typeof MEDIA_TYPES
/** The formats of a table. */
export type TableFormat = Exclude<ExportFormat, 'json'>

/** A stream may begin after a minute only: its rows are sorted first. */
const STREAM_SECONDS = 75

/** The operations whose responses are tables, and their bodies. */
export interface TableRequests {
  readonly query: QueryRequest
  readonly values: ValuesRequest
  readonly retention: RetentionRequest
  readonly funnel: FunnelRequest
  readonly journeys: JourneysRequest
}

/** Their paths, and the largest `limit` of those that have one. */
const OPERATIONS: Readonly<
  Record<keyof TableRequests, { readonly path: string; readonly limit?: number | 'all' }>
> = {
  query: { path: '/v1/analytics/query', limit: 'all' },
  values: { path: '/v1/analytics/values', limit: 1_000 },
  retention: { path: '/v1/analytics/retention' },
  funnel: { path: '/v1/analytics/funnel' },
  journeys: { path: '/v1/analytics/journeys' },
}

/** What the service says beside the rows of a table. */
export interface TableInfo {
  readonly period: Period
  /** The number of rows before `limit` and `offset` are applied. */
  readonly total: number
  readonly limit?: number | 'all'
  readonly offset?: number
  readonly comparison?: Schemas['Comparison']
  readonly totals?: Schemas['Totals']
  readonly metadata?: Schemas['QueryMetadata']
}

/** The bytes of a response as they arrive. Reading them throws an IncompleteResponseError if they break off. */
export interface Stream {
  readonly stream: ReadableStream<Uint8Array>
}

/** An export that has begun. JSON has its period in its body alone. */
export interface EventStream extends Stream {
  readonly period?: Period
}

export interface ExportOptions extends RequestOptions {
  /** The format; NDJSON by default, and for a file that of its suffix. */
  readonly format?: ExportFormat
}

export interface TableOptions<Operation = keyof TableRequests> extends RequestOptions {
  /** The format; NDJSON by default, and for a file that of its suffix. */
  readonly format?: TableFormat
  /** The operation that the body is of; `query` by default. */
  readonly operation?: Operation
}

export interface Tables {
  /**
   * The response to an operation in a format, as a stream of bytes: all rows, up to 1,000,000 of a query, unless the body has a
   * `limit`. Read it to its end, or cancel it.
   */
  table<Operation extends keyof TableRequests = 'query'>(
    body: TableRequests[Operation],
    options?: TableOptions<Operation>,
  ): Promise<Result<TableInfo & Stream>>
  /**
   * Writes the response to an operation to a file while it arrives, in Node, Deno and Bun. The file is there, or replaced, only when it is
   * complete.
   * @throws the error of the file system, and TypeError for a suffix that is no format
   */
  tableToFile<Operation extends keyof TableRequests = 'query'>(
    body: TableRequests[Operation],
    file: string,
    options?: TableOptions<Operation>,
  ): Promise<Result<TableInfo>>
  /** All rows of a query, without levels, as they arrive: up to 1,000,000, unless the body has a `limit`. An error is the last. */
  rows<const B extends QueryRequest>(
    body: B & Checked<B>,
    options?: RequestOptions,
  ): AsyncGenerator<Result<readonly FlatRow<B>[]>>
  /** POST /v1/events/export, as a stream of bytes in any format. Read it to its end, or cancel it. */
  export(body: ExportRequest, options?: ExportOptions): Promise<Result<EventStream>>
  /** Writes an export to a file, as `tableToFile` does. */
  exportToFile(
    body: ExportRequest,
    file: string,
    options?: ExportOptions,
  ): Promise<Result<Pick<EventStream, 'period'>>>
  /** The exported events as they arrive, some at a time; an error is the last. */
  events(
    body: ExportRequest,
    options?: RequestOptions,
  ): AsyncGenerator<Result<readonly ExportedEvent[]>>
}

/** Creates the operations on tables. */
export function createTables(ask: Ask): Tables {
  const table: Tables['table'] = (body, options = {}) => {
    const { path, limit } = OPERATIONS[options.operation ?? 'query']
    const all = limit === undefined ? body : { limit, ...body }
    return ask(path, all, options, readStream(options.format, readInfo))
  }
  const open: Tables['export'] = (body, options = {}) =>
    ask('/v1/events/export', body, options, readStream(options.format, readPeriod))
  return {
    table,
    tableToFile: async (body, file, options = {}) => {
      const format = options.format ?? chooseFormat(file, TABLE_FORMATS)
      return writeStream(file, await table(body, { ...options, format }))
    },
    rows: (body, options) => readAll(() => table(body, options)),
    export: open,
    exportToFile: async (body, file, options = {}) => {
      const format = options.format ?? chooseFormat(file, EXPORT_FORMATS)
      return writeStream(file, await open(body, { ...options, format }))
    },
    events: (body, options) => readAll(() => open(body, options)),
  }
}

const readStream = <Info>(
  format: ExportFormat = 'ndjson',
  readAbout: (headers: Headers) => Info,
): Reader<Info & Stream> => ({
  mediaType: MEDIA_TYPES[format],
  minSeconds: STREAM_SECONDS,
  read: (response, deadline) => {
    const stream = openStream(response, deadline)
    return { ...readAbout(response.headers), stream }
  },
})

function readPeriod(headers: Headers, name = 'tally-period'): Pick<EventStream, 'period'> {
  const [from, to] = headers.get(name)?.split('/') ?? []
  return from === undefined || to === undefined ? {} : { period: { from, to } }
}

function readInfo(headers: Headers): TableInfo {
  const [limit, offset] = [headers.get('tally-limit'), headers.get('tally-offset')]
  const [{ period }, compared] = [readPeriod(headers), readPeriod(headers, 'tally-comparison')]
  const [totals, metadata] = [headers.get('tally-totals'), headers.get('tally-metadata')]
  if (period === undefined) throw new IncompleteResponseError('The response has no period.')
  return {
    period,
    total: Number(headers.get('tally-total')),
    ...(limit === null ? {} : { limit: limit === 'all' ? limit : Number(limit) }),
    ...(offset === null ? {} : { offset: Number(offset) }),
    ...(compared.period === undefined ? {} : { comparison: { period: compared.period } }),
    ...(totals === null ? {} : { totals: JSON.parse(totals) as Schemas['Totals'] }),
    ...(metadata === null ? {} : { metadata: JSON.parse(metadata) as Schemas['QueryMetadata'] }),
  }
}

async function writeStream<Info extends object>(
  file: string,
  opened: Result<Info & Stream>,
): Promise<Result<Omit<Info & Stream, 'stream'>>> {
  if (!opened.ok) return opened
  const { stream, ...info } = opened.data
  try {
    await replaceFile(file, readParts(stream))
    return { ok: true, data: info }
  } catch (error) {
    return toError(error)
  } finally {
    await cancelStream(stream)
  }
}

async function* readAll<T>(
  open: () => Promise<Result<Stream>>,
): AsyncGenerator<Result<readonly T[]>> {
  const opened = await open()
  if (!opened.ok) {
    yield opened
    return
  }
  try {
    for await (const data of readObjects<T>(opened.data.stream)) yield { ok: true, data }
  } catch (error) {
    yield toError(error)
  }
}

/** @throws the error, if it is not that of an incomplete response */
function toError(error: unknown): Extract<Result<never>, { readonly ok: false }> {
  if (error instanceof IncompleteResponseError) return { ok: false, error: describeFailure(error) }
  throw error
}

const EXPORT_FORMATS = Object.keys(MEDIA_TYPES) as readonly ExportFormat[]
const TABLE_FORMATS = EXPORT_FORMATS.filter((format) => format !== 'json')

function chooseFormat<Format extends string>(file: string, formats: readonly Format[]): Format {
  const suffix = /\.([^./\\]+)$/.exec(file)?.[1]?.toLowerCase()
  const format = formats.find((one) => one === suffix)
  if (format !== undefined) return format
  throw new TypeError(`${file}: no known suffix; give the format, one of ${formats.join(', ')}`)
}
