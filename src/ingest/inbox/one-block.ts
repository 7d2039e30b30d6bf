/** The settings that make an insert one block, which ClickHouse stores whole or not at all. */
import type { Settings } from '../../clickhouse/connection.js'

export const ONE_BLOCK: Settings = {
  min_insert_block_size_rows: '1000000000',
  min_insert_block_size_bytes: '0',
  max_insert_threads: '1',
  max_partitions_per_insert_block: '0',
}
