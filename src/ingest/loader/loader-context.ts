/** What loaders need besides their connection. `bootstrap/` creates it and hands it down. */
import type { Connection } from '../../clickhouse/connection.js'
import type { Geoip } from '../enrichment/geoip.js'

export interface LoaderContext {
  /** Looks up IP addresses; undefined without a GeoIP database, and then addresses give no country or city. */
  readonly geoip: Geoip | undefined
  /**
   * Finishes interrupted deletions, so that no load counts events that are being deleted. The caller holds the
   * loader lease.
   */
  readonly finishDeletions: (writer: Connection) => Promise<void>
}
