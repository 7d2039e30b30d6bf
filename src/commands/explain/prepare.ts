/** Validates a body for an operation, plans it, and runs its statements: what `tallyhouse explain` explains. */
import { isAnswered, OPERATIONS } from '../../analytics/operations/list.js'
import { NONCE } from '../../analytics/explain-operation.js'
import type {
  AnsweredOperation,
  Explained,
  PlanDependencies,
  QueriedProject,
  ValidBody,
} from '../../analytics/operation.js'
import type { ZonedProject } from '../../analytics/request/default-zone.js'
import { namesDefinitions, resolveDefinitions } from '../../analytics/definitions.js'
import type { Definition } from '../../model/definitions.js'
import { prepare } from '../../analytics/run-operation.js'
import type { ValidateBody } from '../../http/validation/validate-body.js'
import type { Description } from './explanation.js'
import type { ReadResponse } from './run-explained.js'

/** A response that has been planned. */
interface Prepared {
  readonly description: Description
  /** Undefined if nothing is read. */
  readonly read: ReadResponse | undefined
}

/** Plans the response to a validated request. @throws ApiError for a request that is refused */
export type Prepare = (project: QueriedProject, dependencies: PlanDependencies) => Promise<Prepared>

/**
 * Validates a body for an operation that can be explained.
 *
 * @param queried the project that it is about
 * @param definitions the goals and segments of the project
 * @throws ApiError VALIDATION_ERROR
 */
export function prepareExplained(
  validate: ValidateBody,
  name: string,
  body: unknown,
  queried: ZonedProject,
  definitions: readonly Definition[],
): Prepare {
  const { operation, explained } = findOperation(name)
  const asked = validate(operation, body, queried)
  const request = (
    namesDefinitions(asked) ? resolveDefinitions(operation, asked, definitions) : asked
  ) as ValidBody
  return async (project, dependencies) => {
    const { resolved, planned } = await prepare(operation, request, project, dependencies)
    const { group } = dependencies
    const { period } = operation.echo(request, resolved) as Pick<Description, 'period'>
    return {
      description: { period, plan: explained.describe(planned) },
      read:
        explained.buildStatement(planned, NONCE, group) &&
        ((run) => operation.read(planned, { nonce: NONCE, group, run })),
    }
  }
}

function findOperation(name: string): {
  readonly operation: AnsweredOperation
  readonly explained: Explained<unknown>
} {
  const operation = OPERATIONS.find((one) => one.name === name)
  if (operation === undefined || !isAnswered(operation) || operation.explained === undefined) {
    throw new TypeError(`${name} cannot be explained`)
  }
  return { operation, explained: operation.explained }
}
