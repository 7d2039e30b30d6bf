/** Reduces the errors that every branch of a union reports to those that help the client. */
import type { FieldError } from '../../contract/api.js'
import { listEnumValues, type SpecDocument } from '../../contract/spec.js'

/** A field error with the JSON Schema keyword that failed. */
export interface KeywordError extends FieldError {
  readonly keyword: string
  /** The type that the value must have, if the keyword is `type`. */
  readonly type?: string
}

/** The message for a value that matches no branch of a union, by field, with `*` for array positions. */
export type UnionMessages = Readonly<Record<string, string>>

/** Builds the messages for the unions of the query contract. They list the names that it allows. */
export function buildUnionMessages(document: SpecDocument): UnionMessages {
  const presets = listEnumValues(document, 'Preset').join(', ')
  const dimensions = listEnumValues(document, 'Dimension').join(', ')
  const intervals = listEnumValues(document, 'Interval').join(', ')
  const clock = listEnumValues(document, 'ClockField').join(', ')
  const property = 'or event:prop: followed by a name of 1 to 128 characters'
  const ends = 'an array [start, end], each YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ'
  const last = '{"last": 45, "unit": "day"}'
  return {
    date_range: `must be a preset (${presets}), ${last} or ${ends}`,
    compare: `must be previous_period, previous_year or ${ends}`,
    'group_by.*': `must be one of: ${intervals}, ${dimensions}, ${clock}, ${property}`,
    within: 'must be visit, or a whole number of seconds from 1 to 315360000',
    'then_by.*': `must be one of: ${dimensions}, ${clock}, ${property}; an interval goes in group_by`,
    field: `must be one of: ${dimensions}, event:prop, ${property}`,
    limit: 'must be an integer from 1 to 1000, or all',
  }
}

/** The keywords whose errors mean that a value belongs to another branch, not that it is wrong within this one. */
const BRANCH_KEYWORDS: ReadonlySet<string> = new Set(['type', 'enum', 'const', 'pattern'])

/**
 * Replaces the errors that the branches of a union report by one error. If they show which branch the client
 * meant, keeps the errors of that branch instead.
 */
export function mergeUnionErrors(
  reported: readonly KeywordError[],
  messages: UnionMessages,
): readonly KeywordError[] {
  const errors = dropTypesBesideEnums(reported)
  const unions = listFields(errors, 'oneOf')
  if (unions.size === 0) return errors
  const recognized = listRecognized(errors)
  return errors.flatMap((error) => {
    const { field, keyword } = error
    if (!unions.has(field)) return [error]
    if (keyword !== 'oneOf') return BRANCH_KEYWORDS.has(keyword) ? [] : [error]
    const message = messages[field.replaceAll(/\b\d+\b/g, '*')] ?? 'is not valid'
    return recognized.has(field) ? [] : [{ ...error, message }]
  })
}

/** Drops the `type` error of a field that also failed its `enum`: one message is enough. */
function dropTypesBesideEnums(errors: readonly KeywordError[]): readonly KeywordError[] {
  const enums = listFields(errors, 'enum')
  return errors.filter(({ field, keyword }) => keyword !== 'type' || !enums.has(field))
}

const listFields = (errors: readonly KeywordError[], failed: string): ReadonlySet<string> =>
  new Set(errors.filter(({ keyword }) => keyword === failed).map(({ field }) => field))

/** Lists the fields whose branch is known: an error lies inside them, or one of their own is not about the branch. */
function listRecognized(errors: readonly KeywordError[]): ReadonlySet<string> {
  const known = errors.filter(({ keyword }) => keyword !== 'additionalProperties')
  return new Set(
    known.flatMap(({ field, keyword }) =>
      BRANCH_KEYWORDS.has(keyword) || keyword === 'oneOf'
        ? listParents(field)
        : [field, ...listParents(field)],
    ),
  )
}

/** Lists the fields that contain a field: `filters` and `filters.0` for `filters.0.type`. */
function listParents(field: string): readonly string[] {
  const parts = field.split('.')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('.'))
}
