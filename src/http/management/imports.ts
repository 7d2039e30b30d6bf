/** The operations that import files. */
import { ApiError, createValidationError } from '../../contract/errors.js'
import type { ImportPage } from '../../contract/management-api.js'
import type { Format } from '../../ingest/import/formats/format.js'
import type { ImportSettings } from '../../ingest/import/import-settings.js'
import type { Tool } from '../../ingest/import/presets/tools.js'
import { StoreFullError } from '../../ingest/inbox/disk-space.js'
import { ConflictError, ExpectedError, MissingError } from '../../lib/errors.js'
import { continueWith } from '../../lib/generators.js'
import { checkImport, isOf, startImport } from '../../management/imports.js'
import { findOperation, listImports } from '../../management/operations.js'
import { dropUpload, readFile, storeUpload, type StoredUpload } from '../../management/uploads.js'
import type { StoredProject } from '../../projects/project.js'
import {
  defineOperation,
  requireOwnProject,
  type ManagementApi,
  type ManagementOperation,
  type ManagementRequest,
  type ManagementResponse,
} from './management-api.js'
import { acceptOperation, presentOperation } from './operations.js'
import { readLimit } from './pages.js'
import { MAX_UPLOAD_BYTES } from './receive-upload.js'

const IMPORTS = '/v1/projects/{id}/imports'

export const IMPORT_OPERATIONS: readonly ManagementOperation[] = [
  defineOperation({
    method: 'get',
    path: IMPORTS,
    scope: 'projects:read',
    run: async (api, request) => {
      const { id } = await requireOwnProject(api, request)
      const { imports, nextCursor } = await listImports(api.cluster.home.store.writer, {
        projectId: id,
        limit: readLimit(request.query),
        cursor: request.query['cursor'],
      })
      const body: ImportPage = { imports: imports.map(presentOperation), nextCursor }
      return { status: 200, body }
    },
  }),
  defineOperation({
    method: 'post',
    path: IMPORTS,
    scope: 'imports:write',
    maxBytes: MAX_UPLOAD_BYTES,
    isUpload: true,
    run: importUpload,
  }),
  defineOperation({
    method: 'get',
    path: `${IMPORTS}/{operation}/rejected`,
    scope: 'projects:read',
    run: listRejectedRows,
  }),
]

/** Stores the file, then starts its import. A file that is not imported is dropped. */
async function importUpload(
  api: ManagementApi,
  request: ManagementRequest,
): Promise<ManagementResponse> {
  const { store } = api.cluster.home
  const project = await requireOwnProject(api, request)
  const settings = readSettings(request)
  await checkImport(api, project, settings)
  const upload = await receive(api, request, project)
  const drop = (): Promise<void> => dropUpload(store.writer, upload.id)
  const { bytes, sha256 } = upload
  const state = { isImported: false }
  try {
    if (bytes === 0) throw createValidationError([{ field: 'body', message: 'must not be empty' }])
    const response = await request.once({ bytes, sha256 }, async (one) => {
      const operation = await startImport(one.context, project, upload, settings)
      state.isImported = isOf(operation, upload.id)
      return acceptOperation(api, operation)
    })
    // A repeated request gets the operation of the first one.
    if (!state.isImported) await drop()
    return response
  } catch (error) {
    // After any other error the operation may be stored: then it needs the file.
    if (error instanceof ExpectedError) await drop()
    throw error
  }
}

async function receive(
  { cluster }: ManagementApi,
  request: ManagementRequest,
  { id }: StoredProject,
): Promise<StoredUpload> {
  try {
    return await request.receive((bytes) => storeUpload(cluster.home.store, id, bytes))
  } catch (error) {
    if (!(error instanceof StoreFullError)) throw error
    throw new ApiError('SERVICE_UNAVAILABLE', 'The store has no room for files right now.', {
      headers: { 'Retry-After': '30' },
      cause: error,
    })
  }
}

function readSettings({ query, listParameters }: ManagementRequest): ImportSettings {
  const { format, from, origin, zone } = query
  const map = listParameters('map')
  return {
    // The contract names both lists, and the request is valid.
    ...(format === undefined ? {} : { format: format as Format }),
    ...(from === undefined ? {} : { from: from as Tool }),
    ...(map.length === 0 ? {} : { map }),
    ...(origin === undefined ? {} : { origin }),
    ...(zone === undefined ? {} : { zone }),
    strict: query['strict'] === 'true',
    dryRun: query['dryRun'] === 'true',
  }
}

async function listRejectedRows(
  api: ManagementApi,
  request: ManagementRequest,
): Promise<ManagementResponse> {
  const { writer } = api.cluster.home.store
  const { id: projectId } = await requireOwnProject(api, request)
  const id = request.params['operation'] ?? ''
  const operation = await findOperation(writer, id)
  if (operation?.kind !== 'import' || operation.projectId !== projectId) {
    throw new MissingError(`there is no import ${id}`)
  }
  if (operation.endedAt === null) throw new ConflictError(`the import ${id} has not ended`)
  const file = operation.request?.kind === 'import' ? (operation.request.rejected ?? '') : ''
  const stream = readFile(writer, file)
  const first = await stream.next()
  const { result } = operation
  const rejected = result !== null && 'rejected' in result ? result.rejected : 0
  if (first.done === true && rejected > 0) {
    throw new MissingError(`the rejected rows of the import ${id} are not kept any more`)
  }
  return {
    status: 200,
    stream: continueWith(first, stream),
    headers: { 'Content-Type': 'application/x-ndjson; charset=utf-8' },
  }
}
