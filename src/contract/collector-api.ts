/** Short names for the types generated from the collector contract. Only this file imports them. */
import type { components } from '../../generated/collector.js'

type Schemas = components['schemas']

/** One event as a client sends it. */
export type SentEvent = Schemas['SentEvent']
/** The body of the response to accepted events. */
export type Accepted = Schemas['Accepted']
