/** Sends what a method of management was called with. */
import { readJson, type Ask, type Reader, type RequestOptions } from './http.js'
import type { Result, TallyhouseError } from './result.js'

/** A result with the entity tag of the response, for `ifMatch`. */
export type TaggedResult<Data> =
  | { readonly ok: true; readonly data: Data; readonly etag: string }
  | { readonly ok: false; readonly error: TallyhouseError }

/** A file to send. It can be sent again, which a stream cannot; `openAsBlob` of Node reads a large one as it is sent. */
export type Upload = string | Uint8Array<ArrayBuffer> | Blob

/** What a method sends. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With places such as `{id}`, which the first arguments fill. */
  readonly path: string
  /** Whether there is a body after them: JSON, or a file of this type. */
  readonly body?: 'json' | (string & {})
  /** Whether the service answers a repeated request like the first, by its `Idempotency-Key`. */
  readonly isOnce?: boolean
  /** The type of a response that is a text. */
  readonly text?: string
  /** The member of a page that has its items. */
  readonly pages?: string
}

/** What the last argument of a method may have beside parameters of the query string. */
interface Options extends RequestOptions {
  readonly ifMatch?: string
  readonly ifNoneMatch?: string
  readonly idempotencyKey?: string
}

type Parameter = string | number | boolean | readonly string[] | undefined

/** The seconds that the upload of a file may take. */
const UPLOAD_SECONDS = 600

interface Received {
  readonly data: unknown
  readonly etag: string | null
}

const JSON_READER: Reader<Received> = {
  mediaType: 'application/json',
  read: async (response) => ({
    data: await readJson(response),
    etag: response.headers.get('etag'),
  }),
}

const readText = (mediaType: string): Reader<Received> => ({
  mediaType,
  read: async (response) => ({ data: await response.text(), etag: null }),
})

/** Sends a request. @param given the arguments of the method: places in the path, the body if there is one, and options */
export async function request(
  ask: Ask,
  operation: Operation,
  given: readonly unknown[],
): Promise<Result<unknown> & { readonly etag?: string }> {
  const { method, body: type, isOnce } = operation
  const { path, rest } = fillPath(operation.path, given)
  const [body, options = {}] = type === undefined ? [undefined, ...rest] : rest
  const { signal, ifMatch, ifNoneMatch, idempotencyKey, ...query } = options as Options
  const key = idempotencyKey ?? (isOnce === true ? crypto.randomUUID() : undefined)
  const isFile = type !== undefined && type !== 'json'
  const reader = operation.text === undefined ? JSON_READER : readText(operation.text)
  const result = await ask(
    path + formatQuery(query),
    body as object | string | undefined,
    {
      method,
      ...(signal && { signal }),
      headers: {
        ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
        ...(ifNoneMatch !== undefined && { 'If-None-Match': ifNoneMatch }),
        ...(key !== undefined && { 'Idempotency-Key': key }),
        ...(isFile && { 'Content-Type': type }),
      },
    },
    isFile ? { ...reader, minSeconds: UPLOAD_SECONDS } : reader,
  )
  if (!result.ok) return result
  const { data, etag } = result.data
  return { ok: true, data, ...(etag !== null && { etag }) }
}

function fillPath(
  path: string,
  given: readonly unknown[],
): { readonly path: string; readonly rest: readonly unknown[] } {
  const places = path.match(/\{\w+\}/g) ?? []
  const filled = places.reduce(
    (text, place, index) => text.replace(place, encodeURIComponent(String(given[index]))),
    path,
  )
  return { path: filled, rest: given.slice(places.length) }
}

/** Formats the parameters that are given, from their `?` on. */
export function formatQuery(query: object): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query) as [string, Parameter][]) {
    const values = Array.isArray(value) ? (value as readonly string[]) : [value]
    for (const one of values) if (one !== undefined) parameters.append(name, String(one))
  }
  return parameters.size === 0 ? '' : `?${parameters.toString()}`
}
