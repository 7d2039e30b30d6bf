/** The clocks of a host and its store, as a test sets them. */
import type { Clocks } from '../../../src/clickhouse/clocks.js'

/** Both clocks show the same time. */
export const agreeOn = (time: Date): Clocks => ({ host: time, store: time })
