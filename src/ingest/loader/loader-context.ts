/** The dependencies of a loader besides its connection. `bootstrap/` creates them. */
import type { Connection } from '../../clickhouse/connection.js'
import type { ShareSalts } from '../../cluster/salts.js'
import type { Geoip } from '../enrichment/geoip.js'
import type { LoadedShardName } from './steps/residence.js'

/** Options of finishing deletions; those that are left out are of a store without a cluster. */
export interface FinishOptions {
  /** The time from the end of a project's API keys to the deletion of its data, in milliseconds. */
  readonly waitMs?: number
  /** How long services take to notice a change, in milliseconds. */
  readonly noticeMs?: number | undefined
  /** The number of a deletion to leave. */
  readonly except?: number
  /** Whether it deletes projects that are marked as deleted in the copies of a shard: projects live at home, and shards have copies. */
  readonly followsHome?: boolean
  /** At home: returns whether other shards still have a project, which is deleted there first. */
  readonly isElsewhere?: (projectId: string) => Promise<boolean>
}

export interface LoaderContext {
  /** Looks up IP addresses. Undefined without a GeoIP database; events then get no country or city from their address. */
  readonly geoip: Geoip | undefined
  /** The age limit for events of the stream whose age the collector has not checked. */
  readonly maxEventAgeDays: number
  /** How long services take to notice a change before it becomes visible, in milliseconds; NOTICE_MS if left out. */
  readonly noticeMs?: number
  /**
   * Finishes interrupted deletions, so that no load counts events that are being deleted. The caller holds the
   * loader lease.
   */
  readonly finishDeletions: (writer: Connection, options?: FinishOptions) => Promise<void>
  /** Gives the salts of days from the home of a cluster. Undefined for a store that makes its own. */
  readonly shareSalts?: ShareSalts
  /** The shard of a cluster; undefined for a store without one. */
  readonly shard?: LoadedShardName
}
