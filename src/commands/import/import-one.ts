/** Imports one source and shows its progress. */
import { getLoader, type OpenedCluster } from '../../bootstrap/open-cluster.js'
import type { Shard } from '../../cluster/cluster.js'
import { openRows, type OpenedRows } from '../../ingest/import/open-rows.js'
import { importIntoCluster } from '../../ingest/import/import-into-cluster.js'
import type { ImportReport } from '../../ingest/import/import-options.js'
import { EMPTY_REPORT } from '../../ingest/loader/load-report.js'
import type { CommandContext } from '../shared/context.js'
import { omitUndefined } from '../shared/options.js'
import { listFirst } from '../shared/output.js'
import { explainFailure } from './failure.js'
import type { ImportCommandOptions } from './options.js'
import { showProgress, type Share } from './progress-bar.js'
import { collectRejectedRows } from './rejected-rows.js'
import type { ImportSource } from './sources.js'

/** A batch, and the shard that has it. */
interface ImportedBatch {
  readonly batch: string
  readonly shard: Shard
}

export interface Imported {
  /** The name of the source in messages. */
  readonly name: string
  readonly report: ImportReport
  /** The batches that hold its events; empty for a dry run. */
  readonly batches: readonly ImportedBatch[]
  /** How many rows are not events, such as requests for images in an access log. */
  readonly skipped: number
  /** The file of its rejected rows; undefined when there are none. */
  readonly rejectedFile: string | undefined
}

/**
 * Imports one source.
 *
 * @throws UserError for a source that cannot be read as events
 */
export async function importOne(
  context: CommandContext,
  opened: OpenedCluster,
  source: ImportSource,
  options: ImportCommandOptions,
): Promise<Imported> {
  const { project, strict, dryRun = false, format, map, from, origin, zone } = options
  const progress = showProgress(source.name, context.note)
  const rejected = collectRejectedRows(source, progress.note, { writesNothing: dryRun })
  const bytes = countBytes(source.open())
  const batches: ImportedBatch[] = []
  const onZoneless = zone === undefined ? noteOnce(progress.note, zonelessNote(source)) : undefined
  let soFar = EMPTY_REPORT
  try {
    const rows = await openRows(bytes.chunks, {
      writer: opened.store.writer,
      onZoneless,
      onLeftOut: (columns) => noteLeftOut(progress.note, source, columns),
      ...omitUndefined({ format, mapping: map, tool: from, origin, zone }),
    })
    const report = await importIntoCluster(opened.cluster, rows.rows, {
      ...omitUndefined({ projectId: project, strict, zone }),
      onZoneless,
      identity: rows.identity,
      dryRun,
      now: context.now(),
      getLoader: (shard) => getLoader(opened, shard),
      onBatch: (batch, shard) => batches.push({ batch, shard }),
      onRejected: (some) => rejected.add(some),
      onProgress: (done) => {
        soFar = done
        const count = done.received + rows.skipped()
        progress.rows(count, computeShare(count, rows, bytes.read(), source))
      },
    })
    const rejectedFile = await rejected.close()
    return { name: source.name, report, batches, skipped: rows.skipped(), rejectedFile }
  } catch (error) {
    await rejected.close()
    throw explainFailure(error, source.name, dryRun ? 0 : soFar.received)
  } finally {
    progress.stop()
  }
}

const zonelessNote = ({ name }: ImportSource): string =>
  `${name}: timestamps without a zone are read in UTC; --zone names another`

const MAX_SHOWN = 20

/** Notes the columns that are not imported. */
function noteLeftOut(
  note: (text: string) => void,
  { name }: ImportSource,
  columns: readonly string[],
): void {
  if (columns.length === 0) return
  note(`${name}: left out, because events have no such field: ${listFirst(columns, MAX_SHOWN)}`)
}

/** Creates a function whose first call writes a note. */
function noteOnce(note: (text: string) => void, text: string): () => void {
  let isNoted = false
  return () => {
    if (isNoted) return
    isNoted = true
    note(text)
  }
}

/** Returns the share of the rows that is done if the format states their number, otherwise the share of the bytes. */
function computeShare(
  rows: number,
  opened: OpenedRows,
  read: number,
  { size }: ImportSource,
): Share {
  const total = opened.total()
  if (total !== undefined) return total === 0 ? 1 : Math.min(1, rows / total)
  return size === undefined ? undefined : Math.min(1, read / size)
}

/** Passes the bytes of a source on and counts them. */
function countBytes(source: AsyncIterable<Buffer>) {
  let read = 0
  async function* chunks(): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      read += chunk.length
      yield chunk
    }
  }
  return { chunks: chunks(), read: () => read }
}
