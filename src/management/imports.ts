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
import { recordChange } from './audit-log.js'
import type { ManagementContext } from './context.js'
import { startOperation, type ImportRequest, type StoredOperation } from './operations.js'
import { createFile, readFile, type NewFile, type StoredUpload } from './uploads.js'

/**
 * Starts to import a file that is stored.
 *
 * @returns the operation, which may be one that was started before under the same id, with another upload
 * @throws FieldValueError for a setting that is not valid; ConflictError while the project is being deleted, moved or widened
 */
export async function startImport(
  context: ManagementContext,
  project: StoredProject,
  { id: upload, bytes }: Pick<StoredUpload, 'id' | 'bytes'>,
  settings: ImportSettings,
): Promise<StoredOperation> {
  checkImport(project, settings)
  const request: ImportRequest = { kind: 'import', upload, bytes, settings }
  const operation = await startOperation(context, project, request)
  if (isOf(operation, upload)) {
    const after = { ...settings, bytes }
    await recordChange(context, { action: 'import.start', project, target: operation.id, after })
  }
  return operation
}

/** Checks what can be known before a file has arrived. @throws FieldValueError, ConflictError */
export function checkImport(project: StoredProject, settings: ImportSettings): void {
  parseSettings(settings)
  if (project.isDeleting) throw new ConflictError(`the project ${project.id} is being deleted`)
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
  const { cluster, record, stop } = run
  const { writer } = cluster.home.store
  const rejected = createFile(writer, 'rejected', operation.projectId)
  const finish = async (ending: Pick<Ending, 'state' | 'result' | 'error'>): Promise<Ending> => {
    await rejected.end()
    return { ...ending, request: { ...request, rejected: rejected.id } }
  }
  try {
    const begun = await recordFirstLoads(operation.projectId, request, run)
    const { report, notes } = await importUpload(operation, begun, rejected, run)
    if (stop.aborted) return undefined
    const result = toResult(report, request.settings, notes)
    const failure = findFailure(report, request.settings)
    return await (failure === undefined
      ? finish({ state: 'done', result, error: null })
      : finish({ state: 'failed', result, error: failure }))
  } catch (error) {
    if (stop.aborted) return undefined
    const message = describeFailure(error, request)
    if (message !== undefined) return finish({ state: 'failed', result: null, error: message })
    if (isAnswer(error)) {
      await record({ request: { ...request, failures: countFailure(request) } })
    }
    throw error
  }
}

/** Imports the upload; an error of the project or of the file is a UserError. */
async function importUpload(
  { projectId, createdAt }: StoredOperation,
  { upload, bytes, settings, firstLoads }: ImportRequest,
  rejected: NewFile,
  { cluster, getLoader, stop, record }: ImportRun,
): Promise<{ readonly report: FileReport; readonly notes: readonly string[] }> {
  const { strict = false, dryRun = false } = settings
  const notes: string[] = []
  let recording: Promise<void> | undefined
  const report = await importFile(cluster, readUpload(cluster, projectId, { id: upload, bytes }), {
    ...parseSettings(settings),
    name: UPLOAD,
    size: bytes,
    projectId,
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
  return { report, notes }
}

/** The name of every upload in messages. */
const UPLOAD = 'upload'

/** Yields the bytes of an upload. @throws UserError when the project or the upload is not stored any more */
async function* readUpload(
  { home }: Cluster,
  projectId: string,
  { id, bytes }: { readonly id: string; readonly bytes: number },
): AsyncGenerator<Buffer> {
  const { writer } = home.store
  await requireLiving(writer, projectId)
  let read = 0
  for await (const piece of readFile(writer, id)) {
    read += piece.length
    yield piece
    await requireLiving(writer, projectId)
  }
  if (read !== bytes) throw new UserError('the upload is not stored any more')
}

async function requireLiving(writer: Connection, projectId: string): Promise<void> {
  const project = await findProject(writer, projectId)
  if (project === undefined || project.isDeleting) {
    throw new UserError(`the project ${projectId} was deleted`)
  }
}

/** Records, before the first load, which loads can be of this import. */
async function recordFirstLoads(
  projectId: string,
  request: ImportRequest,
  { cluster, record }: ImportRun,
): Promise<ImportRequest> {
  if (request.firstLoads !== undefined) return request
  const project = await findProject(cluster.home.store.writer, projectId)
  const shards = project === undefined ? [] : locate(cluster, project)
  const numbers = await Promise.all(
    shards.map(async ({ name, store }) => [name, await readNextNumber(store.writer)] as const),
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

const toResult = (
  report: FileReport,
  { dryRun = false }: ImportSettings,
  notes: readonly string[],
): ImportResult => ({
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

/** Says why an import that came to its end has failed; undefined if it has not. */
function findFailure(report: FileReport, { strict = false }: ImportSettings): string | undefined {
  try {
    requireSuccess([{ name: UPLOAD, report }], strict)
    return undefined
  } catch (error) {
    if (error instanceof UserError) return error.message
    throw error
  }
}

/** The most runs that ClickHouse may end with an error; between two are some seconds. */
const MAX_FAILURES = 10

const countFailure = ({ failures = 0 }: ImportRequest): number => failures + 1

/** Says why an import cannot be run; undefined for an error of the moment. */
function describeFailure(error: unknown, request: ImportRequest): string | undefined {
  if (error instanceof UserError) return error.message
  const isTooOften = isAnswer(error) && countFailure(request) > MAX_FAILURES
  return isTooOften
    ? 'the store cannot load the upload; the log of the service says why'
    : undefined
}
