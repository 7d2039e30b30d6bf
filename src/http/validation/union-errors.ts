/** Says once what several forms of a field have each complained of. */
import type { FieldFault } from '../../contract/api.js'
import { namesOf, type SpecDocument } from '../../contract/spec.js'

/** A fault, and the keyword of JSON Schema that failed. */
export interface Fault extends FieldFault {
  readonly keyword: string
}

/** What must be said of a place that takes one of several forms, by field with `*` for positions. */
export type ChoiceHints = Readonly<Record<string, string>>

/** The hints of the contract, with the names it allows. */
export function choiceHints(document: SpecDocument): ChoiceHints {
  const presets = namesOf(document, 'Preset').join(', ')
  const groupings = [...namesOf(document, 'Interval'), ...namesOf(document, 'Dimension')].join(', ')
  return {
    date_range: `must be a preset (${presets}) or an array [start, end], each YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ`,
    'group_by.*': `must be one of: ${groupings}, or event:prop: followed by a name of 1 to 128 characters`,
  }
}

/** Whether a fault is one of a known field: an unknown property may be called `limit.0`, too. */
export const isOfKnown = ({ keyword }: Pick<Fault, 'keyword'>): boolean =>
  keyword !== 'additionalProperties'

/** What is none of several names needs not be told, too, that it is no string. */
export function settleEnums(faults: readonly Fault[]): readonly Fault[] {
  const enums = new Set(faults.filter(({ keyword }) => keyword === 'enum').map((f) => f.field))
  return faults.filter(({ field, keyword }) => keyword !== 'type' || !enums.has(field))
}

/** The keywords that fail together at a place that takes one of several forms. */
const OF_A_FORM: ReadonlySet<string> = new Set(['type', 'enum', 'const', 'pattern'])

/**
 * Where none of several forms fits, every form has complained. Keeps the complaints of the form that
 * was meant: those from deeper inside, or of more than the form itself. Else says the choice, once.
 */
export function settleChoices(faults: readonly Fault[], hints: ChoiceHints): readonly Fault[] {
  const choices = new Set(faults.filter(({ keyword }) => keyword === 'oneOf').map((f) => f.field))
  if (choices.size === 0) return faults
  const meant = new Set(
    faults
      .filter(isOfKnown)
      .flatMap(({ field, keyword }) =>
        OF_A_FORM.has(keyword) || keyword === 'oneOf' ? outside(field) : [field, ...outside(field)],
      ),
  )
  return faults.flatMap((fault) => {
    if (!choices.has(fault.field)) return [fault]
    if (fault.keyword === 'oneOf') {
      const hint = hints[fault.field.replaceAll(/\b\d+\b/g, '*')] ?? 'is not valid'
      return meant.has(fault.field) ? [] : [{ ...fault, message: hint }]
    }
    return OF_A_FORM.has(fault.keyword) ? [] : [fault]
  })
}

/** The fields that a field lies in: `filters`, `filters.0` and so on. */
function outside(field: string): readonly string[] {
  const parts = field.split('.')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('.'))
}
