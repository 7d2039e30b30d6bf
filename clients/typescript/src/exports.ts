/** Exports of events. */
import type { Client } from 'openapi-fetch'
import type { ExportedEvent, ExportRequest, paths, Period } from './contract.js'
import { replaceFile } from './files.js'
import { describeFailure, toResult, type Result } from './result.js'
import {
  cancelStream,
  IncompleteResponseError,
  openStream,
  readObjects,
  readParts,
} from './streams.js'

/** The formats of an export. */
export type ExportFormat = keyof typeof MEDIA_TYPES

const MEDIA_TYPES = {
  json: 'application/json',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
} as const

export interface ExportOptions {
  /** The format; NDJSON by default, and for a file that of its suffix. */
  readonly format?: ExportFormat
  /** Aborts the export, also while its stream is read. */
  readonly signal?: AbortSignal
}

/** An export that has begun. */
export interface EventStream {
  /** The period, as the service resolved it. JSON has it in its body alone. */
  readonly period?: Period
  /** The bytes as they arrive. Reading them throws an IncompleteResponseError if they break off. */
  readonly stream: ReadableStream<Uint8Array>
}

export interface Exports {
  /** POST /v1/events/export, as a stream of bytes in any format. Read it to its end, or cancel it. */
  export(body: ExportRequest, options?: ExportOptions): Promise<Result<EventStream>>
  /**
   * Writes an export to a file while it arrives, in Node, Deno and Bun. The file is there, or replaced, only when it is complete.
   * @throws the error of the file system, and TypeError for a suffix that is no format
   */
  exportToFile(
    body: ExportRequest,
    file: string,
    options?: ExportOptions,
  ): Promise<Result<Pick<EventStream, 'period'>>>
  /** The exported events as they arrive, some at a time; an error is the last. */
  events(
    body: ExportRequest,
    options?: Pick<ExportOptions, 'signal'>,
  ): AsyncGenerator<Result<readonly ExportedEvent[]>>
}

/** Creates the operations that export. */
export function createExports(api: Client<paths>): Exports {
  const open: Exports['export'] = (body, { format = 'ndjson', ...options } = {}) => {
    const headers = { Accept: MEDIA_TYPES[format] }
    const request = api.POST('/v1/events/export', { body, headers, parseAs: 'stream', ...options })
    return toResult<EventStream>(request, (data, response) => ({
      stream: openStream(data as ReadableStream<Uint8Array>, response, MEDIA_TYPES[format]),
      ...readPeriod(response.headers),
    }))
  }
  return {
    export: open,
    exportToFile: async (body, file, options = {}) => {
      const format = options.format ?? chooseFormat(file)
      const opened = await open(body, { ...options, format })
      if (!opened.ok) return opened
      const { stream, ...about } = opened.data
      try {
        await replaceFile(file, readParts(stream))
        return { ok: true, data: about }
      } catch (error) {
        return toError(error)
      } finally {
        await cancelStream(stream)
      }
    },
    events: (body, options) => readEvents(() => open(body, options)),
  }
}

async function* readEvents(
  open: () => Promise<Result<EventStream>>,
): AsyncGenerator<Result<readonly ExportedEvent[]>> {
  const opened = await open()
  if (!opened.ok) {
    yield opened
    return
  }
  try {
    for await (const data of readObjects<ExportedEvent>(opened.data.stream))
      yield { ok: true, data }
  } catch (error) {
    yield toError(error)
  }
}

/** @throws the error, if it is not that of an incomplete response */
function toError(error: unknown): {
  readonly ok: false
  readonly error: ReturnType<typeof describeFailure>
} {
  if (error instanceof IncompleteResponseError) return { ok: false, error: describeFailure(error) }
  throw error
}

function readPeriod(headers: Headers): Pick<EventStream, 'period'> {
  const [from, to] = headers.get('tally-period')?.split('/') ?? []
  return from === undefined || to === undefined ? {} : { period: { from, to } }
}

function chooseFormat(file: string): ExportFormat {
  const suffix = /\.([^./\\]+)$/.exec(file)?.[1]?.toLowerCase() ?? ''
  if (suffix in MEDIA_TYPES) return suffix as ExportFormat
  const formats = Object.keys(MEDIA_TYPES).join(', ')
  throw new TypeError(`${file}: no known suffix; give the format, one of ${formats}`)
}
