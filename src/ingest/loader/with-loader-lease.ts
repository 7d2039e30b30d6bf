/** Does work that only one process at a time may do on a store: loading, and removing what was loaded. */
import type { Connection } from '../../clickhouse/connection.js'
import { withLease } from '../../clickhouse/lease/lease.js'
import { fenceConnection } from '../../clickhouse/connection-wrappers.js'

/** While nothing else is loaded; the connection that the work is given refuses once that is no longer so. */
export const withLoaderLease = <Result>(
  writer: Connection,
  work: (holder: Connection) => Promise<Result>,
): Promise<Result> =>
  withLease(writer, 'loader', ({ signal }) => work(fenceConnection(writer, signal)))
