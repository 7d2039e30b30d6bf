/** Imports of files that were uploaded: starts them as operations, and runs them. */
import { isAnswer } from '../clickhouse/errors.js'
import type { Connection } from '../clickhouse/connection.js'
import { locate, type Cluster } from '../cluster/cluster.js'
import type { ImportResult } from '../contract/management-api.js'
import { importFile, requireSuccess, type FileReport } from '../ingest/import/import-file.js'
import { parseSettings, type ImportSettings } from '../ingest/import/import-settings.js'
import type { Rejection } from '../ingest/inbox/rejections.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { readNextNumber } from '../ingest/loader/load-log.js'
import { ConflictError, UserError } from '../lib/errors.js'
import type { StoredProject } from '../projects/project.js'
import { findProject } from '../projects/store.js'
import { requireSettled } from '../relocation/describe.js'
import { recordChange } from './audit-log.js'
import type { ManagementContext } from './context.js'
import { startOperation, type ImportRequest, type StoredOperation } from './operations.js'
import { createFile, dropRejected, readFile, type NewFile, type StoredUpload } from './uploads.js'

/**
 * Starts to import a file that is stored.
 *
 * @returns the operation, which may be one that was started before under the same id, with another upload
 * @throws as `checkImport`
 */
export async function startImport(
  context: ManagementContext,
  project: StoredProject,
  { id: upload, bytes }: Pick<StoredUpload, 'id' | 'bytes'>,
  settings: ImportSettings,
): Promise<StoredOperation> {
  await checkImport(context, project, settings)
  const request: ImportRequest = { kind: 'import', upload, bytes, settings }
  const operation = await startOperation(context, project, request)
  if (isOf(operation, upload)) {
    const after = { ...settings, bytes }
    await recordChange(context, { action: 'import.start', project, target: operation.id, after })
  }
  return operation
}

/**
 * Checks what can be known before a file has arrived.
 *
 * @throws FieldValueError for a setting that is not valid; ConflictError while the project is being deleted, moved or widened
 */
export async function checkImport(
  { cluster }: Pick<ManagementContext, 'cluster'>,
  { id, isDeleting }: StoredProject,
  settings: ImportSettings,
): Promise<void> {
  parseSettings(settings)
  if (isDeleting) throw new ConflictError(`the project ${id} is being deleted`)
  await requireSettled(cluster, id)
}

/** Returns whether an operation imports an upload. */
export const isOf = ({ request }: StoredOperation, upload: string): boolean =>
  request?.kind === 'import' && request.upload === upload

export interface ImportRun {
  readonly cluster: Cluster
  /** Returns the context of the loader of a shard. */
  readonly getLoader: (shard: string) => LoaderContext
  /** Ends the import after the chunk that is being loaded. */
  readonly stop: AbortSignal
  /** Records changes of the operation. */
  readonly record: (changes: Partial<StoredOperation>) => Promise<void>
}

/** What becomes of an operation that has ended. */
export type Ending = Pick<StoredOperation, 'state' | 'result' | 'error' | 'request'>

/** Loads of the service are smaller than those of a command: it has other things to do in between. */
const CHUNK_BYTES = 16_000_000

/**
 * Runs an import, or goes on with it after an interruption: every row counts once, in the report as well.
 *
 * @returns undefined when it was stopped before its end
 */
export async function runImport(
  operation: StoredOperation,
  request: ImportRequest,
  run: ImportRun,
): Promise<Ending | undefined> {
  const { stop } = run
  const { writer } = run.cluster.home.store
  const { projectId } = operation
  const gone = { ...FAILED, error: `the project ${projectId} was deleted`, request }
  const project = await findProject(writer, projectId)
  if (project === undefined || project.isDeleting) return gone
  const rejected = createFile(writer, 'rejected', projectId)
  let ending: Omit<Ending, 'request'>
  let begun = request
  try {
    begun = await recordFirstLoads(project, request, run)
    ending = await importUpload(operation, begun, { project, rejected }, run)
  } catch (error) {
    if (stop.aborted) return undefined
    ending = { ...FAILED, error: await explain(error, begun, run) }
  }
  if (stop.aborted) return undefined
  await rejected.end()
  if (await isLiving(writer, project)) {
    return { ...ending, request: { ...begun, rejected: rejected.id } }
  }
  // The deletion of the project may have come before the last of these rows.
  await dropRejected(writer, rejected.id)
  return gone
}

const FAILED = { state: 'failed', result: null } as const

/** Returns whether a project is neither deleted nor being deleted. */
async function isLiving(writer: Connection, project: StoredProject): Promise<boolean> {
  const now = await findProject(writer, project.id)
  // A later project may have the same id.
  return now?.isDeleting === false && now.createdAt.getTime() === project.createdAt.getTime()
}

interface ImportFiles {
  readonly project: StoredProject
  readonly rejected: NewFile
}

/** Imports the upload to its end. @throws UserError for an error of the file or of the project */
async function importUpload(
  { createdAt }: StoredOperation,
  { upload, bytes, settings, firstLoads }: ImportRequest,
  { project, rejected }: ImportFiles,
  { cluster, getLoader, stop, record }: ImportRun,
): Promise<Omit<Ending, 'request'>> {
  const { strict = false, dryRun = false } = settings
  const notes: string[] = []
  let recording: Promise<void> | undefined
  const report = await importFile(cluster, readUpload(cluster, project, { id: upload, bytes }), {
    ...parseSettings(settings),
    name: UPLOAD,
    size: bytes,
    projectId: project.id,
    strict,
    dryRun,
    stop,
    getLoader,
    firstLoads,
    now: createdAt,
    chunkSize: CHUNK_BYTES,
    onRejected: (rows) => writeRejected(rejected, rows),
    onNote: (note) => notes.push(note),
    onProgress: (rows, share = 0) => {
      recording ??= record({ progress: { rows, share: Math.round(share * 1_000) / 1_000 } })
        .catch(() => undefined)
        .finally(() => (recording = undefined))
    },
  }).finally(() => recording)
  const error = findFailure(report, settings)
  return {
    state: error === null ? 'done' : 'failed',
    result: toResult(report, dryRun, notes),
    error,
  }
}

/** The name of every upload in messages. */
const UPLOAD = 'upload'

/** Yields the bytes of an upload. @throws UserError when the project is being deleted, or the upload is not stored any more */
async function* readUpload(
  { home }: Cluster,
  project: StoredProject,
  { id, bytes }: Pick<StoredUpload, 'id' | 'bytes'>,
): AsyncGenerator<Buffer> {
  const { writer } = home.store
  let read = 0
  for await (const piece of readFile(writer, id)) {
    read += piece.length
    yield piece
    if (!(await isLiving(writer, project))) throw new UserError('the project is being deleted')
  }
  if (read !== bytes) throw new UserError('the upload is not stored any more')
}

/** Records, before the first load, which loads can be of this import. */
async function recordFirstLoads(
  project: StoredProject,
  request: ImportRequest,
  { cluster, record }: ImportRun,
): Promise<ImportRequest> {
  if (request.firstLoads !== undefined) return request
  const numbers = await Promise.all(
    locate(cluster, project).map(
      async ({ name, store }) => [name, await readNextNumber(store.writer)] as const,
    ),
  )
  const begun = { ...request, firstLoads: Object.fromEntries(numbers) }
  await record({ request: begun })
  return begun
}

/** How many rejected rows become text at once. */
const ROWS = 1_000

async function writeRejected(file: NewFile, rows: readonly Rejection[]): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS) {
    const some = rows.slice(from, from + ROWS)
    await file.write(Buffer.from(some.map((row) => `${JSON.stringify(row)}\n`).join('')))
  }
}

const toResult = (report: FileReport, dryRun: boolean, notes: readonly string[]): ImportResult => ({
  read: report.received + report.skipped,
  loaded: report.events,
  duplicates: report.duplicates,
  bots: report.bots,
  excluded: report.excluded,
  rejected: report.rejected,
  skipped: report.skipped,
  users: report.users,
  sessions: report.sessions,
  first: report.first?.toISOString() ?? null,
  last: report.last?.toISOString() ?? null,
  dryRun,
  notes: [...notes],
})

/** Says why an import that came to its end has failed; null if it has not. */
function findFailure(report: FileReport, { strict = false }: ImportSettings): string | null {
  try {
    requireSuccess([{ name: UPLOAD, report }], strict)
    return null
  } catch (error) {
    if (error instanceof UserError) return error.message
    throw error
  }
}

/** The most runs that ClickHouse may end with an error; between two are some seconds. */
const MAX_FAILURES = 10

/**
 * Says why an import has failed.
 *
 * @throws the error of a moment, after which the import is run again
 */
async function explain(
  error: unknown,
  request: ImportRequest,
  { record }: ImportRun,
): Promise<string> {
  if (error instanceof UserError) return error.message
  if (!isAnswer(error)) throw error
  const failures = (request.failures ?? 0) + 1
  if (failures > MAX_FAILURES) {
    return 'the store cannot load the upload; the log of the service says why'
  }
  await record({ request: { ...request, failures } })
  throw error
}
