/** What the service is started with. */
import type { Cluster } from '../../cluster/cluster.js'
import type { Config } from '../../config/config.js'
import type { InboxView } from '../../ingest/collect/waiting-work.js'
import type { Logger } from '../../lib/log.js'
import type { Instruments } from '../../telemetry/instruments.js'
import type { Traces } from '../../telemetry/traces.js'
import type { AppDependencies } from './app.js'
import type { EarlyServer } from './early-server.js'

export interface ServiceOptions extends Pick<AppDependencies, 'pages' | 'getLoaderState'> {
  readonly config: Config
  /** The caller closes its stores after the service has stopped. */
  readonly cluster: Cluster
  readonly logger: Logger
  readonly now: () => Date
  readonly instruments?: Instruments | undefined
  readonly traces?: Traces | undefined
  /** What the loader of this process last saw of a store's stream. If left out, any amount of events may wait. */
  readonly readInbox?: ((shard: string) => InboxView) | undefined
  /** Called when events were stored in the inbox of a shard. */
  readonly onStored?: ((shard: string) => void) | undefined
  /** Called when an operation of management was stored. */
  readonly onOperation?: (() => void) | undefined
  /** A server that listens already; if left out, one is started. */
  readonly server?: EarlyServer
}
