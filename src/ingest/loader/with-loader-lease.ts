/** Runs work that only one process at a time may do on a store: loading, and deleting what was loaded. */
import type { Connection } from '../../clickhouse/connection.js'
import { underLease } from '../../clickhouse/lease/lease.js'

/** Runs `work` under the loader lease. Its connection refuses statements once the lease is lost. */
export const withLoaderLease = <Result>(
  writer: Connection,
  work: (fenced: Connection) => Promise<Result>,
): Promise<Result> => underLease(writer, 'loader', work)

/** A store whose loader lease is held. */
export type Held<One> = One & {
  /** Refuses statements once the lease is lost. */
  readonly fenced: Connection
}

/** Runs `work` under the loader leases of several stores. All who do so take them in the order of the cluster, so that nobody waits for the other. */
export const withLoaderLeases = <One extends object, Result>(
  [first, ...others]: readonly One[],
  getWriter: (one: One) => Connection,
  work: (held: readonly Held<One>[]) => Promise<Result>,
): Promise<Result> =>
  first === undefined
    ? work([])
    : withLoaderLease(getWriter(first), (fenced) =>
        withLoaderLeases(others, getWriter, (rest) => work([{ ...first, fenced }, ...rest])),
      )
