/** Reduces the errors that every branch of a union reports to those that help the client. */
import type { FieldError } from '../../contract/api.js'
import { listEnumValues, type SpecDocument } from '../../contract/spec.js'

/** A field error with the JSON Schema keyword that failed. */
export interface KeywordError extends FieldError {
  readonly keyword: string
}

/** The message for a value that matches no branch of a union, by field, with `*` for array positions. */
export type UnionMessages = Readonly<Record<string, string>>

/** The messages of the query contract; they list the names that it allows. */
export function buildUnionMessages(document: SpecDocument): UnionMessages {
  const presets = listEnumValues(document, 'Preset').join(', ')
  const groupings = ['Interval', 'Dimension'].flatMap((name) => listEnumValues(document, name))
  return {
    date_range: `must be a preset (${presets}) or an array [start, end], each YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ`,
    'group_by.*': `must be one of: ${groupings.join(', ')}, or event:prop: followed by a name of 1 to 128 characters`,
  }
}

/**
 * Replaces the errors of a union's branches by one, unless they show which branch the client meant: then
 * that branch's errors are kept.
 */
export const mergeUnionErrors = (
  errors: readonly KeywordError[],
  messages: UnionMessages,
): readonly KeywordError[] => mergeBranches(dropTypesBesideEnums(errors), messages)

/** Drops the `type` error of a field that also failed its `enum`: one message is enough. */
function dropTypesBesideEnums(errors: readonly KeywordError[]): readonly KeywordError[] {
  const enums = new Set(errors.filter(({ keyword }) => keyword === 'enum').map((e) => e.field))
  return errors.filter(({ field, keyword }) => keyword !== 'type' || !enums.has(field))
}

/** The keywords that say that a value is of another branch, rather than what is wrong within this one. */
const BRANCH_KEYWORDS: ReadonlySet<string> = new Set(['type', 'enum', 'const', 'pattern'])

function mergeBranches(
  errors: readonly KeywordError[],
  messages: UnionMessages,
): readonly KeywordError[] {
  const unions = new Set(errors.filter(({ keyword }) => keyword === 'oneOf').map((e) => e.field))
  if (unions.size === 0) return errors
  const recognized = listRecognized(errors)
  return errors.flatMap((error) => {
    if (!unions.has(error.field)) return [error]
    if (error.keyword === 'oneOf') {
      const message = messages[error.field.replaceAll(/\b\d+\b/g, '*')] ?? 'is not valid'
      return recognized.has(error.field) ? [] : [{ ...error, message }]
    }
    return BRANCH_KEYWORDS.has(error.keyword) ? [] : [error]
  })
}

/** The fields of which one branch was recognized: an error lies inside them, or is about more than the branch. */
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

/** The fields that contain a field: of `filters.0.type`, `filters` and `filters.0`. */
function listParents(field: string): readonly string[] {
  const parts = field.split('.')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('.'))
}
