/** Fills in the time zone of a project, in the one place that all requests pass before their rules are applied. */
import { isRecord } from '../../lib/records.js'

/** The part of a project that its requests have defaults from. */
export interface ZonedProject {
  /** The time zone of queries that name none; null for UTC. */
  readonly timeZone: string | null
}

/**
 * Returns a body that names the time zone of the project if it names none itself: everything that follows, from the rules to the
 * names of kept rows, sees it as if it had been sent.
 *
 * @param operation the one that the body is for, which says whether its requests know time zones
 * @param body may be anything
 * @param project undefined for a request that is not about a single project
 */
export function fillInZone(
  operation: { readonly hasTimeZone?: boolean },
  body: unknown,
  project: ZonedProject | undefined,
): unknown {
  const zone = project?.timeZone ?? null
  const isOpen = isRecord(body) && body['time_zone'] === undefined
  return zone !== null && isOpen && operation.hasTimeZone === true
    ? { ...body, time_zone: zone }
    : body
}
