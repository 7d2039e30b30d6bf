/** The operations on projects. */
import type {
  NewProject,
  ProjectChanges,
  ProjectPage,
  ProjectSettings,
  Rotation,
} from '../../contract/management-api.js'
import { ConflictError, FieldValueError, MissingError } from '../../lib/errors.js'
import { addDays, SECOND_MS, startOfDay } from '../../lib/time.js'
import { startProjectDeletion } from '../../management/operations.js'
import {
  createProject,
  findFirstEvent,
  rotateToken,
  updateProject,
} from '../../management/projects.js'
import { presentManagedProject } from '../../projects/present.js'
import { DEFAULT_SETTINGS, type StoredProject } from '../../projects/project.js'
import type { CheckProject } from '../../projects/store.js'
import {
  defineOperation,
  maySee,
  requireOwnProject,
  type ManagementApi,
  type ManagementOperation,
  type ManagementRequest,
  type ManagementResponse,
} from './management-api.js'
import { acceptOperation } from './operations.js'
import { listPage } from './pages.js'
import { createPreconditionError, hashEntity, isEntityTag } from './entity-tags.js'

const PROJECTS = '/v1/projects'
const ONE = '/v1/projects/{id}'

export const PROJECT_OPERATIONS: readonly ManagementOperation[] = [
  defineOperation({
    method: 'get',
    path: PROJECTS,
    scope: 'projects:read',
    run: async (api, request) => {
      const page = await listPage(api, request)
      const projects = page.projects.map(presentManagedProject)
      const { nextCursor } = page
      return { status: 200, body: { projects, nextCursor } satisfies ProjectPage }
    },
  }),
  defineOperation<NewProject>({
    method: 'post',
    path: PROJECTS,
    scope: 'projects:write',
    run: async (api, { key, body, context }) => {
      const { shard, width, ...fields } = body
      const org = chooseOrg(key.org, fields.org)
      const placement = { shard, width: width ?? (shard === undefined ? api.defaultWidth : 1) }
      return sendCreated(await createProject(context, { ...fields, org }, placement))
    },
  }),
  defineOperation({
    method: 'get',
    path: ONE,
    scope: 'projects:read',
    run: async (api, request) => {
      const sent = sendProject(await requireOwnProject(api, request))
      const isSame = isEntityTag(request.ifNoneMatch, sent.headers.ETag)
      return isSame ? { status: 304, headers: sent.headers } : sent
    },
  }),
  defineOperation<ProjectSettings>({ method: 'put', path: ONE, scope: 'projects:write', run: put }),
  defineOperation<ProjectChanges>({
    method: 'patch',
    path: ONE,
    scope: 'projects:write',
    run: async (api, request) => {
      const project = await requireOwnProject(api, request)
      return sendProject(await change(api, request, project, request.body))
    },
  }),
  defineOperation({
    method: 'delete',
    path: ONE,
    scope: 'projects:write',
    run: async (api, request) => {
      const project = await requireOwnProject(api, request)
      createCheck(request)(project)
      const operation = await startProjectDeletion(request.context, project)
      return acceptOperation(api, operation)
    },
  }),
  defineOperation<Rotation>({
    method: 'post',
    path: `${ONE}/public-token/rotate`,
    scope: 'projects:write',
    run: async (api, request) => {
      const { id } = await requireOwnProject(api, request)
      const { graceSeconds = WEEK_SECONDS } = request.body
      const check = createCheck(request)
      const { project } = await rotateToken(request.context, id, graceSeconds * SECOND_MS, check)
      return sendProject(project)
    },
  }),
]

const WEEK_SECONDS = 7 * 24 * 60 * 60

/** Creates a project, or gives an existing one exactly these settings. */
async function put(
  api: ManagementApi,
  request: ManagementRequest<ProjectSettings>,
): Promise<ManagementResponse> {
  const { key, params, body, context, ifMatch, ifNoneMatch } = request
  const id = params['id'] ?? ''
  const settings = { ...DEFAULT_SETTINGS, ...body, org: chooseOrg(key.org, body.org) }
  let found = await findOwnProject(api, request)
  if (found === undefined) {
    if (ifMatch !== undefined) throw createPreconditionError(`there is no project ${id}`)
    try {
      const placement = { width: api.defaultWidth }
      return sendCreated(await createProject(context, { ...settings, id }, placement))
    } catch (error) {
      // Somebody has created it meanwhile, or another organization has it.
      if (error instanceof ConflictError) found = await findOwnProject(api, request)
      if (found === undefined) throw error
    }
  }
  if (ifNoneMatch === '*') {
    throw createPreconditionError(`the project ${id} exists already`, hashProject(found))
  }
  return sendProject(await change(api, request, found, settings))
}

const findOwnProject = (
  api: ManagementApi,
  request: ManagementRequest,
): Promise<StoredProject | undefined> =>
  requireOwnProject(api, request).catch((error: unknown) => {
    if (error instanceof MissingError) return undefined
    throw error
  })

/** Changes a project, if the key and the entity tag allow it. */
async function change(
  api: ManagementApi,
  request: ManagementRequest<ProjectChanges>,
  before: StoredProject,
  changes: ProjectChanges,
): Promise<StoredProject> {
  const { key, context, query } = request
  const fields =
    changes.org === undefined ? changes : { ...changes, org: chooseOrg(key.org, changes.org) }
  if (query['confirm'] !== 'true') await requireNoLoss(api, before, fields.keepDays ?? null)
  const { project } = await updateProject(context, before.id, fields, createCheck(request))
  return project
}

/** @throws ConflictError when the project has data that it would keep no longer */
async function requireNoLoss(
  { cluster, now }: ManagementApi,
  project: StoredProject,
  keepDays: number | null,
): Promise<void> {
  if (keepDays === null || (project.keepDays !== null && keepDays >= project.keepDays)) return
  const first = await findFirstEvent(cluster, project)
  if (first === null || first >= addDays(startOfDay(now()), -keepDays)) return
  throw new ConflictError(
    `the project ${project.id} has events from before the last ${keepDays} days, which would be deleted for good: add confirm=true to the query string`,
  )
}

/** Returns the check that the project of a request is still the one that its `If-Match` names, and that its key may see it. */
const createCheck =
  ({ key, ifMatch }: Pick<ManagementRequest, 'key' | 'ifMatch'>): CheckProject =>
  (project) => {
    if (!maySee(key, project)) throw new MissingError(`there is no project ${project.id}`)
    const tag = hashProject(project)
    if (ifMatch !== undefined && !isEntityTag(ifMatch, tag)) {
      throw createPreconditionError(`the project has changed: its entity tag is ${tag} now`, tag)
    }
  }

/** @throws FieldValueError when the key of an organization names another one */
function chooseOrg(own: string | null, asked: string | null | undefined): string | null {
  if (own === null) return asked ?? null
  if (asked === undefined || asked === own) return own
  throw new FieldValueError('org', `the key acts for the organization ${own} alone`)
}

const hashProject = (project: StoredProject): string => hashEntity(presentManagedProject(project))

function sendProject(project: StoredProject): ManagementResponse & {
  readonly headers: { readonly ETag: string }
} {
  return {
    status: 200,
    body: presentManagedProject(project),
    headers: { ETag: hashProject(project) },
  }
}

function sendCreated(project: StoredProject): ManagementResponse {
  const { headers, ...sent } = sendProject(project)
  return {
    ...sent,
    status: 201,
    headers: { ...headers, Location: `${PROJECTS}/${project.id}` },
  }
}
