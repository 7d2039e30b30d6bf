/** What a relocation depends on. */
import type { Cluster, Shard } from '../cluster/cluster.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'

export interface RelocationOptions {
  readonly cluster: Cluster
  /** Returns the context of the loader of a shard. */
  readonly getContext: (shard: Shard) => LoaderContext
  readonly now: () => Date
  /** The time from the switch to the deletion of the data at the sources, in milliseconds. */
  readonly settleMs?: number
  /** Is called with what happens next. */
  readonly onProgress?: (text: string) => void
}

/** The same with defaults. The writers of its cluster send nothing once another process may have taken over. */
export type Run = Required<Omit<RelocationOptions, 'settleMs'>> &
  Pick<RelocationOptions, 'settleMs'>
