/** Sends requests, and sends those again that failed for now. */
import {
  describeError,
  describeFailure,
  IncompleteResponseError,
  parseJson,
  type Result,
} from './result.js'
import { countRetries, wait, type RetryOptions } from './retries.js'

/** Sends a request. */
export type Send = (request: Request) => Promise<Response>

/** How requests are sent. */
export interface ConnectionOptions extends RetryOptions {
  /** The URL of the service, such as `https://stats.example`. */
  readonly url: string
  /** Sends requests; the global `fetch` by default. */
  readonly fetch?: Send
  /** The seconds that a response may take, and each further part of a stream; 30 by default. A stream may take 75 to begin. */
  readonly timeoutSeconds?: number
}

/** What a single request may have. */
export interface RequestOptions {
  /** Aborts the request, and its waits between retries. */
  readonly signal?: AbortSignal
}

/** What a request is sent with that is not a query. */
export interface SendOptions extends RequestOptions {
  /** POST with a body and GET without, unless it is given. */
  readonly method?: string
  /** With a `Content-Type`, the body is sent as it is. */
  readonly headers?: Readonly<Record<string, string>>
}

/** How a response is read. */
export interface Reader<T> {
  readonly mediaType: string
  /** The seconds that the response may take at least, whatever the options say. */
  readonly minSeconds?: number
  /** @throws IncompleteResponseError */
  readonly read: (response: Response, deadline: Deadline) => T | Promise<T>
}

/** Sends a request until it succeeds, or there is no use in sending it again. @param body an object, or JSON; undefined for none */
export type Ask = <T>(
  path: string,
  body: object | string | undefined,
  options?: SendOptions,
  reader?: Reader<T>,
) => Promise<Result<T>>

const DEFAULT_TIMEOUT_SECONDS = 30
const JSON_TYPE = 'application/json'
const NO_CONTENT = 204

export function connect(token: string, options: ConnectionOptions): Ask {
  const { url, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = options
  const send = options.fetch ?? ((request) => fetch(request))
  const base = url.replace(/\/+$/, '')
  return async <T>(
    path: string,
    body: object | string | undefined,
    { signal, method, headers: given }: SendOptions = {},
    reader: Reader<T> = { mediaType: JSON_TYPE, read: readJson as Reader<T>['read'] },
  ) => {
    const next = countRetries(options)
    const seconds = Math.max(timeoutSeconds, reader.minSeconds ?? 0)
    const headers = {
      Authorization: `Bearer ${token}`,
      Accept: reader.mediaType,
      ...(body === undefined ? {} : { 'Content-Type': JSON_TYPE }),
      ...given,
    }
    // Followed, a redirection would lose the key, or make a GET of a POST.
    const init: RequestInit = {
      redirect: 'manual',
      headers,
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      ...(body === undefined
        ? {}
        : {
            body:
              headers['Content-Type'] === JSON_TYPE
                ? toJson(body)
                : (body as NonNullable<RequestInit['body']>),
          }),
    }
    for (;;) {
      const result = await sendOnce(
        send,
        base + path,
        init,
        createDeadline(seconds, signal),
        reader,
      )
      const delay = result.ok || signal?.aborted ? undefined : next(result.error)
      if (delay === undefined) return result
      try {
        await wait(delay, signal)
      } catch (cause) {
        return { ok: false, error: describeFailure(cause) }
      }
    }
  }
}

const toJson = (body: object | string): string =>
  typeof body === 'string' ? body : JSON.stringify(body)

async function sendOnce<T>(
  send: Send,
  url: string,
  init: RequestInit,
  deadline: Deadline,
  { mediaType, read }: Reader<T>,
): Promise<Result<T>> {
  deadline.start()
  try {
    const response = await send(new Request(url, { ...init, signal: deadline.signal }))
    const isEmpty = response.status === NO_CONTENT
    const isFound = isEmpty || response.headers.get('content-type')?.startsWith(mediaType)
    if (response.ok && isFound) return { ok: true, data: await read(response, deadline) }
    const text = response.ok ? '' : await response.text()
    if (response.ok) void response.body?.cancel().catch(() => undefined)
    return { ok: false, error: describeError(text, response) }
  } catch (cause) {
    return { ok: false, error: describeFailure(cause) }
  } finally {
    deadline.stop()
  }
}

/** Reads the JSON of a response; undefined if it is an empty one. @throws IncompleteResponseError */
export async function readJson(response: Response): Promise<unknown> {
  if (response.status === NO_CONTENT) return undefined
  const data = parseJson(await response.text())
  if (data !== undefined) return data
  throw new IncompleteResponseError('The response ended too early: it is not complete JSON.')
}

/** The moment until which something of a response must have arrived. */
export interface Deadline {
  /** Aborts at the moment, or when the request is aborted. */
  readonly signal: AbortSignal
  readonly start: () => void
  readonly stop: () => void
}

function createDeadline(seconds: number, given?: AbortSignal): Deadline {
  const controller = new AbortController()
  const end = (): void => {
    const message = `The service did not respond within ${seconds} seconds.`
    controller.abort(Object.assign(new Error(message), { name: 'TimeoutError' }))
  }
  let timer: AbortSignal | undefined
  return {
    signal: given ? AbortSignal.any([given, controller.signal]) : controller.signal,
    start: () => {
      timer = AbortSignal.timeout(seconds * 1_000)
      timer.addEventListener('abort', end)
    },
    stop: () => timer?.removeEventListener('abort', end),
  }
}
