/** Short names for the generated types of the collector's contract: the only file that imports them. */
import type { components } from '../../generated/collector.js'

type Schemas = components['schemas']

/** An event as it is sent. */
export type SentEvent = Schemas['Event']
/** Each form of a body that is sent. */
export type SentEvents = Schemas['Events']
export type Accepted = Schemas['Accepted']
