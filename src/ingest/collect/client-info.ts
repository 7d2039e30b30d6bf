/** Adds the IP address, the user agent and the language of a request to its events. */
import type { SentEvent } from '../../contract/collector-api.js'

/** The client that sent a request. */
export interface ClientInfo {
  /** Undefined if it is unknown or not an IP address. */
  readonly ip: string | undefined
  readonly userAgent: string | undefined
  /** The language that it prefers, as `pt-BR`. */
  readonly language?: string | undefined
  /** True for a page, whose events are its user's own; false for a server, which reports events of others. */
  readonly isPage: boolean
}

/**
 * Adds the client's IP address, user agent and language to an event that lacks them. An event from a server gets them only if
 * nothing in it identifies a user: neither `ip` nor `user_agent` nor `user_id`. It never gets the language.
 */
export function addClientInfo(
  event: SentEvent,
  { ip, userAgent, language, isPage }: ClientInfo,
): SentEvent {
  const identifiesUser =
    isPresent(event.ip) || isPresent(event.user_agent) || isPresent(event.user_id)
  if (identifiesUser && !isPage) return event
  return {
    ...event,
    ...(isPresent(event.ip) || ip === undefined ? {} : { ip }),
    ...(isPresent(event.user_agent) || userAgent === undefined ? {} : { user_agent: userAgent }),
    ...(isPresent(event.language) || language === undefined || !isPage ? {} : { language }),
  }
}

/** Null and the empty string mean that a field is absent. */
export const isPresent = (text: string | null | undefined): text is string =>
  text !== undefined && text !== null && text !== ''
