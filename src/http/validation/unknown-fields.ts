/** Refuses bodies with very many unknown fields before the validator spends its time on each of them. */
import type { FieldFault } from '../../contract/api.js'

/** Fewer of them are left to the validator, which tells all other faults as well. */
const MANY = 100

/**
 * The faults of a body `{ events }` if it has many unknown fields; else none.
 *
 * @param known the fields of an event
 * @param nameOf names a field of an event, by its place, as the sender knows it
 */
export function manyUnknownFields(
  body: object,
  known: ReadonlySet<string>,
  nameOf: (place: number, field: string) => string,
): readonly FieldFault[] {
  const fields = Object.keys(body).filter((name) => name !== 'events')
  const { events } = body as { readonly events?: unknown }
  if (Array.isArray(events)) {
    for (const [place, event] of (events as readonly unknown[]).entries()) {
      if (typeof event !== 'object' || event === null || Array.isArray(event)) continue
      for (const name of Object.keys(event)) {
        if (!known.has(name)) fields.push(nameOf(place, name))
      }
    }
  }
  if (fields.length <= MANY) return []
  return fields.map((field) => ({ field, message: 'is not a known property' }))
}
