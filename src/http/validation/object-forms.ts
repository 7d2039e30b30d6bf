/** The members of a body that have an object form. Behind the validation, the service knows only the arrays and names instead. */
import type { FieldError } from '../../contract/api.js'
import { PROPERTY_PREFIX } from '../../contract/filter-fields.js'
import { isRecord } from '../../lib/records.js'

interface Form {
  /** The names of the members of the object, in the order of the array that means the same; none if a name does. */
  readonly members: readonly string[]
  readonly shorten: (form: Readonly<Record<string, unknown>>) => unknown
}

const toArray = (...members: readonly string[]): Form => ({
  members,
  shorten: (form) => members.map((member) => form[member]),
})

const BOUNDS = toArray('from', 'to')
const PROPERTY: Form = {
  members: [],
  shorten: ({ property }) => `${PROPERTY_PREFIX}${String(property)}`,
}

/** The forms by the member that has them, or whose items have them. */
const FORMS: Readonly<Record<string, Form>> = {
  date_range: BOUNDS,
  compare: BOUNDS,
  order_by: toArray('field', 'direction'),
  group_by: PROPERTY,
  then_by: PROPERTY,
  field: PROPERTY,
}

/**
 * Replaces the object forms in a body, in place.
 *
 * @param invalidFields the members that the schemas refuse, which are left alone
 * @returns a function that names the place of an error as the client has written it: `date_range.from`, not `date_range.0`
 */
export function replaceObjectForms(
  body: Record<string, unknown>,
  invalidFields: ReadonlySet<string>,
): (error: FieldError) => FieldError {
  const names = new Map<string, string>()
  const shorten = (value: unknown, place: string, { members, shorten: replace }: Form): unknown => {
    // The last units have no other form.
    if (!isRecord(value) || 'last' in value) return value
    for (const [index, member] of members.entries()) {
      names.set(`${place}.${index}`, `${place}.${member}`)
    }
    return replace(value)
  }
  for (const [member, form] of Object.entries(FORMS)) {
    const value = body[member]
    if (typeof value !== 'object' || invalidFields.has(member)) continue
    body[member] = Array.isArray(value)
      ? value.map((item, index) => shorten(item, `${member}.${index}`, form))
      : shorten(value, member, form)
  }
  return ({ field, message }) => ({ field: names.get(field) ?? field, message })
}
