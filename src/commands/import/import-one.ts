/** Imports one source and shows its progress. */
import { getLoader, type OpenedCluster } from '../../bootstrap/open-cluster.js'
import type { Shard } from '../../cluster/cluster.js'
import { importFile, type FileReport } from '../../ingest/import/import-file.js'
import type { CommandContext } from '../shared/context.js'
import { omitUndefined } from '../shared/options.js'
import type { ImportCommandOptions } from './options.js'
import { showProgress } from './progress-bar.js'
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
  readonly report: FileReport
  /** The batches that hold its events; empty for a dry run. */
  readonly batches: readonly ImportedBatch[]
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
  const { name, size } = source
  const progress = showProgress(name, context.note)
  const rejected = collectRejectedRows(source, progress.note, { writesNothing: dryRun })
  const batches: ImportedBatch[] = []
  try {
    const report = await importFile(opened.cluster, source.open(), {
      ...omitUndefined({ projectId: project, strict }),
      ...omitUndefined({ format, mapping: map, tool: from, origin, zone }),
      name,
      size,
      dryRun,
      now: context.now(),
      getLoader: (shard) => getLoader(opened, shard),
      onBatch: (batch, shard) => batches.push({ batch, shard }),
      onRejected: (some) => rejected.add(some),
      onProgress: progress.rows,
      onNote: (note) => progress.note(`${name}: ${note}`),
    })
    return { name, report, batches, rejectedFile: await rejected.close() }
  } catch (error) {
    await rejected.close()
    throw error
  } finally {
    progress.stop()
  }
}
