/** What the loader needs besides its connection; the composition root puts it together. */
import type { Connection } from '../../clickhouse/connection.js'
import type { Geoip } from '../enrichment/geoip.js'

export interface LoaderContext {
  /** Looks up addresses. Undefined without a GeoIP database: events then have no place of their address. */
  readonly geoip: Geoip | undefined
  /**
   * Finishes interrupted deletions, so that no load counts what is being deleted. The caller holds the
   * loader lease.
   */
  readonly finishDeletions: (writer: Connection) => Promise<void>
}
