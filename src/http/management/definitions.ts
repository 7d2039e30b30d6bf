/** The operations on the goals and segments of projects. */
import {
  DEFINITION_KINDS,
  pickSettings,
  type Definition,
  type DefinitionKind,
} from '../../model/definitions.js'
import type { GoalSettings } from '../../contract/management-api.js'
import { MissingError } from '../../lib/errors.js'
import { deleteDefinition, putDefinition, type CheckChange } from '../../management/definitions.js'
import { listDefinitions } from '../../projects/definitions.js'
import { validateFilters } from '../validation/validate-filters.js'
import { createPreconditionError, hashEntity, isEntityTag } from './entity-tags.js'
import {
  defineOperation,
  requireOwnProject,
  type ManagementApi,
  type ManagementOperation,
  type ManagementRequest,
  type ManagementResponse,
} from './management-api.js'

export const DEFINITION_OPERATIONS: readonly ManagementOperation[] =
  DEFINITION_KINDS.flatMap(listOperations)

function listOperations(kind: DefinitionKind): readonly ManagementOperation[] {
  const path = `/v1/projects/{id}/${kind}s`
  const one = `${path}/{name}`
  return [
    defineOperation({
      method: 'get',
      path,
      scope: 'projects:read',
      isForProjectKeys: true,
      run: async (api, request) => {
        const found = await list(api, request, kind)
        return { status: 200, body: { [`${kind}s`]: found.map(presentDefinition) } }
      },
    }),
    defineOperation({
      method: 'get',
      path: one,
      scope: 'projects:read',
      isForProjectKeys: true,
      run: async (api, request) => {
        const name = getName(request)
        const found = (await list(api, request, kind)).find(
          (definition) => definition.name === name,
        )
        if (found === undefined) throw new MissingError(`there is no ${kind} ${name}`)
        return sendDefinition(found)
      },
    }),
    defineOperation<GoalSettings>({
      method: 'put',
      path: one,
      scope: 'projects:write',
      run: (api, request) => put(api, request, kind),
    }),
    defineOperation({
      method: 'delete',
      path: one,
      scope: 'projects:write',
      run: async (api, request) => {
        const project = await requireOwnProject(api, request)
        const check = createCheck(request, kind)
        await deleteDefinition(request.context, project, kind, getName(request), check)
        return { status: 204 }
      },
    }),
  ]
}

async function put(
  api: ManagementApi,
  request: ManagementRequest<GoalSettings>,
  kind: DefinitionKind,
): Promise<ManagementResponse> {
  const project = await requireOwnProject(api, request)
  const { context, body, validate } = request
  const name = getName(request)
  const filters = validateFilters(validate, body.filters)
  const value = (body.value ?? null) as Definition['value']
  const definition = { kind, name, filters, value }
  const isNew = await putDefinition(context, project, definition, createCheck(request, kind))
  const { headers, ...sent } = sendDefinition(definition)
  if (!isNew) return { ...sent, headers }
  const location = `/v1/projects/${project.id}/${kind}s/${name}`
  return { ...sent, status: 201, headers: { ...headers, Location: location } }
}

const getName = ({ params }: Pick<ManagementRequest, 'params'>): string => params['name'] ?? ''

async function list(
  api: ManagementApi,
  request: ManagementRequest,
  kind: DefinitionKind,
): Promise<readonly Definition[]> {
  const { id } = await requireOwnProject(api, request)
  const all = await listDefinitions(api.cluster.home.store.writer, id)
  return all.filter((definition) => definition.kind === kind)
}

/** Returns the check that a definition is still the one that the `If-Match` of a request names. */
const createCheck =
  (
    { ifMatch, ifNoneMatch, params }: Pick<ManagementRequest, 'ifMatch' | 'ifNoneMatch' | 'params'>,
    kind: DefinitionKind,
  ): CheckChange =>
  (before) => {
    const name = getName({ params })
    if (before === undefined) {
      if (ifMatch !== undefined) throw createPreconditionError(`there is no ${kind} ${name}`)
      return
    }
    const tag = hashEntity(presentDefinition(before))
    if (ifNoneMatch === '*') {
      throw createPreconditionError(`the ${kind} ${name} exists already`, tag)
    }
    if (ifMatch !== undefined && !isEntityTag(ifMatch, tag)) {
      throw createPreconditionError(`the ${kind} has changed: its entity tag is ${tag} now`, tag)
    }
  }

const presentDefinition = (definition: Definition): object => ({
  name: definition.name,
  ...pickSettings(definition),
})

function sendDefinition(
  definition: Definition,
): ManagementResponse & { readonly headers: { readonly ETag: string } } {
  const body = presentDefinition(definition)
  return { status: 200, body, headers: { ETag: hashEntity(body) } }
}
