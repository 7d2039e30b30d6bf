/** Sends the events of a server. */
import type { components } from '../../../generated/collector.js'
import { Delivery, type DeliveryOptions, type SentEvent } from './delivery.js'
import { connect, type ConnectionOptions } from './http.js'

/** Who did something: your id of the user, or what tells visitors apart. */
export type Visitor =
  | { readonly user_id: string; readonly ip?: string; readonly user_agent?: string }
  | { readonly user_id?: never; readonly ip: string; readonly user_agent: string }

type Fields = components['schemas']['EventFields']

/** What is known about an event beside its name. The `timestamp` is now, and the `event_id` a new one, unless they are given. */
export type TrackedEvent<Properties = Readonly<Record<string, unknown>>> = Visitor &
  Omit<Fields, keyof Visitor | 'name' | 'properties'> &
  // Properties of which none is required may be left out.
  (Partial<Properties> extends Properties
    ? { readonly properties?: Properties }
    : { readonly properties: Properties })

/** Events whose names and properties are not declared. */
export type AnyEvents = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export interface TrackerOptions
  extends DeliveryOptions, Pick<ConnectionOptions, 'url' | 'fetch' | 'timeoutSeconds'> {
  /** The public token of the project, `tallypub_…`. */
  readonly token: string
}

/** Sends events. `Events` declares their names, and the properties of each. */
export interface Tracker<Events = AnyEvents> {
  /**
   * Queues an event. It is sent within a second, with others, and again until the service has accepted it; it counts once.
   * @returns its `event_id`
   * @throws QueueFullError if the queue is full, unless `whenFull` is `drop`
   * @throws TypeError for an event that does not say whose it is, and Error after `close`
   */
  track<Name extends keyof Events & string>(name: Name, event: TrackedEvent<Events[Name]>): string
  /** Sends what waits now; resolves when all of it is accepted or lost. */
  flush(): Promise<void>
  /** Ends the tracker: sends what waits, for `closeSeconds` at most. Call it before `process.exit()`, and on SIGTERM. */
  close(): Promise<void>
}

/**
 * Creates a tracker for a server. A process that ends by itself sends what waits.
 * @example createTracker<{ signup: { plan: string } }>({ url, token }).track('signup', { user_id: 'u42', properties: { plan: 'pro' } })
 */
export function createTracker<Events extends { readonly [K in keyof Events]: object } = AnyEvents>({
  token,
  ...options
}: TrackerOptions): Tracker<Events> {
  const delivery = new Delivery(connect(token, { ...options, retries: 0 }), options)
  const stopListening = closeAtExit(delivery)
  return {
    track: (name, fields) => {
      if (delivery.isClosed) throw new Error(`The tracker is closed: ${name} is not sent.`)
      const event_id = isGiven(fields.event_id) ? fields.event_id : crypto.randomUUID()
      const timestamp = isGiven(fields.timestamp) ? fields.timestamp : new Date().toISOString()
      const { user_id, ip, user_agent } = fields
      if (!isGiven(user_id) && !(isGiven(ip) && isGiven(user_agent))) {
        throw new TypeError(
          `The event ${name} needs user_id, or the ip and user_agent of the user.`,
        )
      }
      delivery.add({ ...(fields as SentEvent), name, event_id, timestamp })
      return event_id
    },
    flush: () => delivery.flush(),
    close: () => delivery.close().finally(stopListening),
  }
}

/** The collector takes null and the empty text for absent. */
const isGiven = (text: string | null | undefined): text is string =>
  text !== undefined && text !== null && text !== ''

/** Sends what waits when the process has nothing else to do, and tells what is lost when it ends otherwise. */
function closeAtExit(delivery: Delivery): () => void {
  if (typeof process === 'undefined') return () => undefined
  const close = (): void => void delivery.close()
  const abandon = (): void => delivery.abandon('The process ended before they were accepted.')
  process.once('beforeExit', close).once('exit', abandon)
  return () => void process.off('beforeExit', close).off('exit', abandon)
}
