/** Positions of rows in the stream: the rows of the inbox that belong to no batch. */
import { sql, type Sql } from '../../clickhouse/sql.js'

/**
 * The position of a row in the stream: each block has 2^32 of them. Rows keep theirs when their parts are merged. Blocks
 * may become visible in any order.
 */
export const POSITION = sql`(bitShiftLeft(toUInt64(_block_number), 32) + _block_offset)`

/** Builds the first position of a block. */
export const findStart = (block: Sql): Sql => sql`bitShiftLeft(toUInt64(${block}), 32)`
