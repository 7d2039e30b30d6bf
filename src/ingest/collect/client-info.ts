/** Adds to an event what only its request tells of the user. */
import type { SentEvent } from '../../contract/collector-api.js'

/** Who sent a request. */
export interface ClientInfo {
  /** Undefined where it is not known, or is no address. */
  readonly ip: string | undefined
  readonly userAgent: string | undefined
  /** A browser that acts for its user, not a server that tells of others. */
  readonly isBrowser: boolean
}

/**
 * The event with its user's address and agent. A page speaks for its own user: what is missing is the
 * request's. A server may speak for anybody: only of an event without any hint is it the user itself.
 */
export function addClientInfo(
  event: SentEvent,
  { ip, userAgent, isBrowser }: ClientInfo,
): SentEvent {
  const isNamed = isGiven(event.ip) || isGiven(event.user_agent) || isGiven(event.user_id)
  if (isNamed && !isBrowser) return event
  return {
    ...event,
    ...(isGiven(event.ip) || ip === undefined ? {} : { ip }),
    ...(isGiven(event.user_agent) || userAgent === undefined ? {} : { user_agent: userAgent }),
  }
}

const isGiven = (text: string | null | undefined): boolean =>
  text !== undefined && text !== null && text !== ''
