/** What a case of the corpus is: a request, and whether it must be accepted or how it must be refused. */

/** The response that a case wants: any success, or an error with this code and, if given, a detail about this field. */
export type Want =
  'ok' | { readonly status: number; readonly code: string; readonly field?: string }

export interface Case {
  readonly name: string
  readonly path: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | undefined
  readonly want: Want
}

export const QUERY_PATH = '/v1/analytics/query'
export const EVENTS_PATH = '/v1/events'

/** The key and the token of the service under test; cases without them are about them. */
export interface Credentials {
  readonly key: string
  readonly token: string
}

const JSON_TYPE = { 'Content-Type': 'application/json' }

/** Refused with 400 VALIDATION_ERROR, with a detail about the field if one is given. */
export const invalid = (field?: string): Want => ({
  status: 400,
  code: 'VALIDATION_ERROR',
  ...(field === undefined ? {} : { field }),
})

/** A query with this body: JSON as text or bytes, or a value that becomes JSON. */
export const query =
  (name: string, body: unknown, want: Want, headers: Readonly<Record<string, string>> = {}) =>
  ({ key }: Credentials): Case => ({
    name: `query: ${name}`,
    path: QUERY_PATH,
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, ...JSON_TYPE, ...headers },
    body: toBody(body),
    want,
  })

/** Events with this body. */
export const events =
  (name: string, body: unknown, want: Want, headers: Readonly<Record<string, string>> = {}) =>
  ({ token }: Credentials): Case => ({
    name: `events: ${name}`,
    path: EVENTS_PATH,
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, ...JSON_TYPE, ...headers },
    body: toBody(body),
    want,
  })

/** A case that still lacks the credentials. */
export type Draft = (credentials: Credentials) => Case

const toBody = (body: unknown): string | Buffer =>
  typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)

/** Shortens a value for the name of a case. */
export function label(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const printable = text.replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16)}`)
  return printable.length > 60 ? `${printable.slice(0, 57)}... (${text.length})` : printable
}
