/** Imports a file of any format. The command and the operation of management share this. */
import type { Cluster, Shard } from '../../cluster/cluster.js'
import type { LoaderContext } from '../loader/loader-context.js'
import { formatCount } from '../../lib/counts.js'
import { UserError } from '../../lib/errors.js'
import { EMPTY_REPORT } from '../loader/load-report.js'
import { explainFailure } from './explain-failure.js'
import { importIntoCluster } from './import-into-cluster.js'
import type { ImportOptions, ImportReport } from './import-options.js'
import { openRows, type OpenedRows, type OpenOptions } from './open-rows.js'

type Reading = Pick<OpenOptions, 'format' | 'mapping' | 'tool' | 'origin' | 'zone'>
type Loading = Pick<
  ImportOptions,
  'projectId' | 'strict' | 'dryRun' | 'chunkSize' | 'stop' | 'now' | 'onRejected'
>

interface FileImportOptions extends Reading, Loading {
  /** The name of the file in messages. */
  readonly name: string
  /** In bytes; undefined when it is known only after reading. */
  readonly size: number | undefined
  /** Returns the context of the loader of a shard. */
  readonly getLoader: (shard: string) => LoaderContext
  /** By shard, the first load that is of this import; see `ImportOptions.firstLoad`. */
  readonly firstLoads?: Readonly<Record<string, number>> | undefined
  /** Called with the name of each batch and the shard that has it, earlier loads included. */
  readonly onBatch?: ((batch: string, shard: Shard) => void) | undefined
  /** Called after each chunk with the number of rows so far. */
  readonly onProgress: (rows: number, share: Share) => void
  /** Called with a sentence on how the file is read that its owner may not expect. */
  readonly onNote: (note: string) => void
}

/** Which part of a file is done, from 0 to 1; undefined when its size is not known. */
export type Share = number | undefined

export interface FileReport extends ImportReport {
  /** How many rows are not events, such as requests for images in an access log. */
  readonly skipped: number
}

/**
 * Imports one file, plain or gzipped. Calling it again goes on after an interruption.
 *
 * @throws UserError for a file that cannot be read as events, and for a disk that is full
 */
export async function importFile(
  cluster: Cluster,
  file: AsyncIterable<Buffer>,
  options: FileImportOptions,
): Promise<FileReport> {
  const { name, size, format, mapping, tool, origin, zone, onNote, onProgress, ...loading } =
    options
  const bytes = countBytes(file)
  const onZoneless = zone === undefined ? once(() => onNote(ZONELESS)) : undefined
  let soFar = EMPTY_REPORT
  try {
    const reading = { format, mapping, tool, origin, zone, onZoneless }
    const rows = await openRows(bytes.chunks, {
      ...reading,
      writer: cluster.home.store.writer,
      onLeftOut: (columns) => noteLeftOut(onNote, columns),
    })
    const report = await importIntoCluster(cluster, rows.rows, {
      ...loading,
      zone,
      onZoneless,
      identity: rows.identity,
      onProgress: (done) => {
        soFar = done
        const count = done.received + rows.skipped()
        onProgress(count, computeShare(count, rows, bytes.read(), size))
      },
    })
    return { ...report, skipped: rows.skipped() }
  } catch (error) {
    throw explainFailure(error, name, options.dryRun === true ? 0 : soFar.received)
  }
}

/** An import, and what is said of it where it fails. */
interface Outcome {
  /** The name of the file in messages. */
  readonly name: string
  readonly report: FileReport
  /** Where its rejected rows are; undefined when a message need not say. */
  readonly rejectedFile?: string | undefined
}

/**
 * Checks that imports have done what they were asked to.
 *
 * @throws UserError for rejected rows with `strict`, for files without a row that could be read, and if nothing was loaded
 *   and nothing was a duplicate
 */
export function requireSuccess(imports: readonly Outcome[], isStrict: boolean): void {
  const sum = (count: (report: FileReport) => number): number =>
    imports.reduce((total, { report }) => total + count(report), 0)
  if (isStrict && sum(({ rejected }) => rejected) > 0) {
    const file = imports.find(({ rejectedFile }) => rejectedFile !== undefined)?.rejectedFile
    throw new UserError(`stopped at rejected rows${file === undefined ? '' : `, see ${file}`}`)
  }
  const unreadable = imports.flatMap((one) => describeUnreadable(one) ?? [])
  if (unreadable.length > 0) throw new UserError(unreadable.join('; '))
  if (sum(({ events, duplicates }) => events + duplicates) > 0) return
  const outcomes = (['skipped', 'bots', 'excluded', 'rejected'] as const).flatMap((name) => {
    const count = sum((report) => report[name])
    return count === 0 ? [] : `${count} ${name}`
  })
  throw new UserError(`nothing was loaded: ${outcomes.join(', ')}`)
}

/** Says why a file gave nothing to import; undefined if a row could be read, even one that was skipped or excluded. */
function describeUnreadable({ name, report, rejectedFile }: Outcome): string | undefined {
  const { received, rejected, skipped } = report
  if (skipped > 0 || rejected < received) return undefined
  if (received === 0) return `${name}: has no rows`
  const which = received === 1 ? 'its only row' : `all of its ${formatCount(received, 'row')}`
  return `${name}: ${which} could not be read${rejectedFile === undefined ? '' : `, see ${rejectedFile}`}`
}

const ZONELESS = 'timestamps without a zone are read in UTC; --zone names another'

const MAX_SHOWN = 20

/** Notes the columns that are not imported. */
function noteLeftOut(onNote: (note: string) => void, columns: readonly string[]): void {
  if (columns.length === 0) return
  const more = columns.length > MAX_SHOWN ? ` and ${columns.length - MAX_SHOWN} more` : ''
  const shown = columns.slice(0, MAX_SHOWN).join(', ') + more
  onNote(`left out, because events have no such field: ${shown}`)
}

/** Creates a function that does something at its first call alone. */
function once(act: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    act()
  }
}

/** Returns the share of the rows that is done if the format states their number, otherwise the share of the bytes. */
function computeShare(
  rows: number,
  opened: OpenedRows,
  read: number,
  size: number | undefined,
): Share {
  const total = opened.total()
  if (total !== undefined) return total === 0 ? 1 : Math.min(1, rows / total)
  return size === undefined ? undefined : Math.min(1, read / size)
}

/** Passes the bytes of a file on and counts them. */
function countBytes(file: AsyncIterable<Buffer>) {
  let read = 0
  async function* chunks(): AsyncGenerator<Buffer> {
    for await (const chunk of file) {
      read += chunk.length
      yield chunk
    }
  }
  return { chunks: chunks(), read: () => read }
}
