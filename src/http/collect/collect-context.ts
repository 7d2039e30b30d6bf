/** What is found out about a request that brings events, step by step. */
import type { RequestHandler } from 'express'
import type { IncomingMessage } from 'node:http'
import type { StoredProject } from '../../projects/project.js'

/** How a body holds its events: one alone, in an array, or in the list `events` of an object. */
export type Form = 'event' | 'array' | 'list'

export interface Delivery {
  readonly receivedAt: Date
  /** Undefined until the token is known to be good. */
  project?: StoredProject
  /** As the body had it, before it was brought into the form `list`. */
  form?: Form
  /** How many events there are. */
  events?: number
}

const deliveries = new WeakMap<IncomingMessage, Delivery>()

/** Notes when a request came. */
export const beginDelivery =
  (now: () => Date): RequestHandler =>
  (request, _response, next) => {
    deliveries.set(request, { receivedAt: now() })
    next()
  }

/** What is known of the delivery; undefined for a request that brings no events. */
export const findDelivery = (request: IncomingMessage): Delivery | undefined =>
  deliveries.get(request)

/**
 * What is known of the delivery.
 *
 * @throws Error on a route without `beginDelivery`.
 */
export function deliveryOf(request: IncomingMessage): Delivery {
  const delivery = deliveries.get(request)
  if (delivery === undefined) throw new Error('the route takes no deliveries')
  return delivery
}
