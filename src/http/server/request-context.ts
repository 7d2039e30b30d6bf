/** Types the state that handlers keep on a request: its API key, or the project and events it sends to the collector. */
import type { IncomingMessage } from 'node:http'
import type { AdminKey } from '../../auth/admin-keys.js'
import type { ResponseFormat } from '../../contract/response-formats.js'
import type { ErrorCode } from '../../contract/errors.js'
import type { Scope } from '../../contract/scopes.js'
import type { TimestampWindow } from '../../ingest/collect/event-rules.js'
import type { StoredProject } from '../../projects/project.js'

/** The API key of a request, and the project that the key reads. */
export interface AuthContext {
  readonly principal: { readonly keyId: string; readonly projectId: string }
  readonly project: StoredProject
  /** What the key may do. */
  readonly scopes: readonly Scope[]
}

/** The admin key of a request. */
interface AdminContext {
  readonly key: AdminKey
  /** The key itself. It is neither logged nor stored. */
  readonly secret: string
}

/** The form in which a body holds its events: a single one, an array, or the list `events` of an object. */
export type BodyForm = 'event' | 'array' | 'list'

/**
 * Names a field of an event as the client knows it: `url` of an event sent alone, `3.url` of the fourth of an array,
 * `events.3.url` of the fourth of a list. Paths are written as those of the query API.
 *
 * @param field left out for an error about the event as a whole
 */
export function nameField(form: BodyForm | undefined, index: number, field?: string): string {
  if (form === 'event') return field ?? 'body'
  const event = form === 'list' ? `events.${index}` : `${index}`
  return field === undefined ? event : `${event}.${field}`
}

/** The state of a request to the collector. Its handlers fill it in step by step. */
interface CollectContext {
  readonly receivedAt: Date
  /** Whether a page sent the request; otherwise a server did. */
  readonly isPage: boolean
  /** The timestamps that its events may have. */
  readonly timestamps: TimestampWindow
  /** Undefined until the token has been checked. */
  project?: StoredProject
  /** The form that the client sent, before the body was normalized to `list`. */
  form?: BodyForm
  /** The bytes of the body that have arrived. */
  bytes?: number
  /** The number of events. */
  events?: number
}

// Augments Node's type instead of Express's, because pino-http passes Node's type to the log.
declare module 'http' {
  interface IncomingMessage {
    /** Set once the API key has been checked. */
    authContext?: AuthContext
    /** Set once the admin key has been checked. */
    adminContext?: AdminContext
    /** The format that the request asks for; undefined on routes that know only JSON. */
    responseFormat?: ResponseFormat
    /** Set on the routes of the collector. */
    collectContext?: CollectContext
    /** The code of the error that the request got as its response. */
    errorCode?: ErrorCode
  }
}

/** @throws Error on a route without authentication, which is a bug */
export function getAuthContext({ authContext }: IncomingMessage): AuthContext {
  if (authContext === undefined) throw new Error('the route is not behind authentication')
  return authContext
}

/** @throws Error on a route that does not belong to management, which is a bug */
export function getAdminContext({ adminContext }: IncomingMessage): AdminContext {
  if (adminContext === undefined) throw new Error('the route does not belong to management')
  return adminContext
}

/** @throws Error on a route that does not belong to the collector, which is a bug */
export function getCollectContext({ collectContext }: IncomingMessage): CollectContext {
  if (collectContext === undefined) throw new Error('the route does not belong to the collector')
  return collectContext
}

/** Returns the template of the matched route. The URL itself is text from the client and never leaves the handlers. */
export function getRoute(
  request: IncomingMessage & { route?: { path?: unknown } },
): string | undefined {
  const path = request.route?.path
  return typeof path === 'string' ? path : undefined
}
