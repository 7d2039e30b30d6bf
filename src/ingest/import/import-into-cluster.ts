/** Imports events into the stores of a cluster: the source is split, and each part is imported into its store. */
import type { Cluster, Shard } from '../../cluster/cluster.js'
import type { LoaderContext } from '../loader/loader-context.js'
import { addReports, EMPTY_REPORT, type LoadReport } from '../loader/load-report.js'
import { MAX_LOAD } from '../loader/next-rows.js'
import { importEvents } from './import-events.js'
import type { ImportOptions, ImportReport } from './import-options.js'
import { fanOut } from './shards/fan-out.js'
import { mergeRejections } from './shards/merge-rejections.js'
import { findRouting, type Routing } from './shards/routes.js'
import { splitLines } from './shards/split-lines.js'

export interface ClusterImportOptions extends Omit<
  ImportOptions,
  'loader' | 'onBatch' | 'part' | 'firstLoad'
> {
  /** Returns the context of the loader of a shard. */
  readonly getLoader: (shard: string) => LoaderContext
  /** Called with the name of each batch and the shard that has it, earlier loads included. */
  readonly onBatch?: ((batch: string, shard: Shard) => void) | undefined
  /** By shard, the first load that is of this import; see `ImportOptions.firstLoad`. */
  readonly firstLoads?: Readonly<Record<string, number>> | undefined
}

/** The chunks of a split source are smaller, because as many are in memory as there are parts; but not below this. */
const MIN_CHUNK_BYTES = 16_000_000

/**
 * Imports one source of lines, as `importEvents` does; rows go to the store of their project and sender. The stores load
 * their parts at the same time. When one fails, the others end after the chunk that they are loading.
 *
 * @throws as `importEvents`; the first error if there are several. ApiError SERVICE_UNAVAILABLE for a project on a store
 *   that is not configured
 */
export async function importIntoCluster(
  cluster: Cluster,
  source: AsyncIterable<Buffer>,
  options: ClusterImportOptions,
): Promise<ImportReport> {
  const routing = await findRouting(cluster, options)
  const [shard, ...others] = routing.shards
  return others.length > 0
    ? importParts(routing, source, options)
    : importPart(shard, source, options)
}

const importPart = (
  shard: Shard,
  source: AsyncIterable<Buffer>,
  {
    getLoader,
    onBatch,
    firstLoads,
    ...options
  }: ClusterImportOptions & Pick<ImportOptions, 'part'>,
): Promise<ImportReport> =>
  importEvents(shard.store, source, {
    ...options,
    loader: getLoader(shard.name),
    firstLoad: firstLoads?.[shard.name],
    onBatch: (batch) => onBatch?.(batch, shard),
  })

/** Imports the parts of a split source at the same time. */
async function importParts(
  { shards, route }: Routing,
  source: AsyncIterable<Buffer>,
  options: ClusterImportOptions,
): Promise<ImportReport> {
  const count = shards.length
  const chunkSize =
    options.chunkSize ?? Math.max(MIN_CHUNK_BYTES, Math.floor(MAX_LOAD.bytes / count))
  const lines = splitLines(source, { count, route, maxLineBytes: chunkSize })
  const { streams, close } = fanOut(lines, count, chunkSize)
  const rejections = mergeRejections(count, options.onRejected)
  const soFar = shards.map((): LoadReport => EMPTY_REPORT)
  const end = new AbortController()
  const stop = AbortSignal.any([end.signal, ...(options.stop === undefined ? [] : [options.stop])])
  const failures: unknown[] = []

  const fail = (error: unknown): ImportReport => {
    failures.push(error)
    end.abort()
    return EMPTY
  }

  const runPart = async (shard: Shard, i: number): Promise<ImportReport> => {
    const report = await importPart(shard, streams[i] ?? source, {
      ...options,
      chunkSize,
      stop,
      part: { onRow: (row) => rejections.reach(i, row) },
      onRejected: rejections.add,
      onProgress: (done) => {
        soFar[i] = done
        options.onProgress?.(soFar.reduce(addReports))
      },
    }).catch(fail)
    if (options.strict === true && report.rejected > 0) end.abort()
    if (stop.aborted) await close().catch(fail)
    await rejections.reach(i, Infinity).catch(fail)
    return report
  }
  const reports = await Promise.all(shards.map(runPart))
  if (failures.length > 0) throw failures[0]
  return reports.reduce(add)
}

const EMPTY: ImportReport = { ...EMPTY_REPORT, users: 0, sessions: 0 }

/** Adds the reports of two stores, which have no users in common. */
const add = (a: ImportReport, b: ImportReport): ImportReport => ({
  ...addReports(a, b),
  users: a.users + b.users,
  sessions: a.sessions + b.sessions,
})
