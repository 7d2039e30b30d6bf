/** The pause that ends a session. */
import { sql, uint64 } from '../../../../clickhouse/sql.js'
import { MINUTE_MS } from '../../../../lib/time.js'

/** A longer pause starts a new session. */
export const SESSION_PAUSE = sql`INTERVAL 30 MINUTE`
/** The same in milliseconds. */
export const SESSION_PAUSE_MS = uint64(30 * MINUTE_MS)
