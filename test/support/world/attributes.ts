/** The session attributes, by the contracts: dimensions that are fields of events, and one field that only filters. */
import { listEnumValues, readSpec } from '../../../src/contract/spec.js'

const { schemas } = readSpec('collector').document.components
const fields = Object.keys(schemas['EventFields']?.properties ?? {})

export const SESSION_ATTRIBUTES: readonly string[] = [
  ...listEnumValues(readSpec('openapi').document, 'Dimension').filter((name) =>
    fields.includes(name),
  ),
  'referrer_url',
]
