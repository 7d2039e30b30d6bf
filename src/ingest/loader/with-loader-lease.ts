/** Runs work that only one process at a time may do on a store: loading, and deleting what was loaded. */
import type { Connection } from '../../clickhouse/connection.js'
import { withLease } from '../../clickhouse/lease/lease.js'
import { fenceConnection } from '../../clickhouse/connection-wrappers.js'

/** Runs `work` under the loader lease. Its connection refuses statements once the lease is lost. */
export const withLoaderLease = <Result>(
  writer: Connection,
  work: (fenced: Connection) => Promise<Result>,
): Promise<Result> =>
  withLease(writer, 'loader', ({ signal }) => work(fenceConnection(writer, signal)))
