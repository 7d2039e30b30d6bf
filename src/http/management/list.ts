/** All operations of management. Routes are built from this list. */
import { ACROSS_OPERATIONS } from './across.js'
import { IMPORT_OPERATIONS } from './imports.js'
import { KEY_OPERATIONS } from './keys.js'
import type { ManagementOperation } from './management-api.js'
import { AUDIT_OPERATIONS } from './audit-log.js'
import { DEFINITION_OPERATIONS } from './definitions.js'
import { NOTE_OPERATIONS } from './notes.js'
import { LONG_OPERATIONS } from './operations.js'
import { USAGE_OPERATIONS } from './usage.js'
import { PROJECT_OPERATIONS } from './projects.js'

export const MANAGEMENT_OPERATIONS: readonly ManagementOperation[] = [
  ...PROJECT_OPERATIONS,
  ...KEY_OPERATIONS,
  ...LONG_OPERATIONS,
  ...IMPORT_OPERATIONS,
  ...NOTE_OPERATIONS,
  ...DEFINITION_OPERATIONS,
  ...USAGE_OPERATIONS,
  ...AUDIT_OPERATIONS,
  ...ACROSS_OPERATIONS,
]
