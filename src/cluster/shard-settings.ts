/** The settings of statements that several stores answer together: one of them runs the statement, and asks the others. */
import type { Connection, Settings } from '../clickhouse/connection.js'

/** The settings of a statement that reads several stores. Its response is whole, or it fails. */
const SETTINGS: Settings = {
  skip_unavailable_shards: 0,
  // The store that runs the statement asks itself over the network, too. If it computed its own part beside the statement, it
  // would send the results of scalar subqueries to the others, which would take them for those of their own rows.
  prefer_localhost_replica: 0,
  // A store that is away is not asked again and again. It is known after this long, in milliseconds.
  connections_with_failover_max_tries: '1',
  connect_timeout_with_failover_ms: 300,
  use_hedged_requests: 0,
  // These return wrong numbers, or need rows to lie where they do not.
  optimize_distributed_group_by_sharding_key: 0,
  distributed_group_by_no_merge: '0',
  // The values of parameters are written into the text that other stores get.
  max_query_size: String(16 * 1024 ** 2),
}

/** Returns a connection for statements that read several stores. */
export const acrossStores = (connection: Connection): Connection => ({
  ...connection,
  query: (statement, options = {}) =>
    connection.query(statement, { ...options, settings: { ...options.settings, ...SETTINGS } }),
  stream: (statement, consume, options = {}) =>
    connection.stream(statement, consume, {
      ...options,
      settings: { ...options.settings, ...SETTINGS },
    }),
})
