/** A goal and a segment, as projects have them. */
import type { DefinitionVersion } from '../../../src/projects/definitions.js'

/** The goal `purchase` with a value, in its third version. */
export const PURCHASE: DefinitionVersion = {
  definition: {
    kind: 'goal',
    name: 'purchase',
    filters: [{ field: 'event:name', operator: 'is', value: ['purchase'], case_sensitive: true }],
    value: 'event:prop:amount',
  },
  isDeleted: false,
  version: 3,
}

/** The segment `german`. */
export const GERMAN: DefinitionVersion = {
  definition: {
    kind: 'segment',
    name: 'german',
    filters: [{ field: 'country', operator: 'is', value: ['DE'], case_sensitive: true }],
    value: null,
  },
  isDeleted: false,
  version: 1,
}
