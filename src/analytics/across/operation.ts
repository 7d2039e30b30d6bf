/** What validation needs of queries across projects. They are asked with an admin key, so no list of operations has them. */
import type { AcrossRequest } from '../../contract/across-projects.js'
import type { OperationBase } from '../operation.js'
import { ACROSS_RULES } from './rules.js'

export const ACROSS: OperationBase<AcrossRequest> = {
  name: 'projects',
  path: '/v1/analytics/projects',
  scope: 'read',
  rules: ACROSS_RULES,
}
