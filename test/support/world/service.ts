/** Starts the service on a store, for tests that ask it over HTTP. */
import {
  startService,
  type RunningService,
  type ServiceOptions,
} from '../../../src/bootstrap/serving/start-service.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { readConfig } from '../../../src/config/config.js'
import { createLogger } from '../../../src/lib/log.js'
import { toCluster, type Cluster } from '../../../src/cluster/cluster.js'

export interface TestServiceOptions extends Pick<
  ServiceOptions,
  'now' | 'instruments' | 'traces' | 'readInbox' | 'onStored' | 'onOperation'
> {
  readonly store: Store
  /** The cluster of the store; if left out, the store is the only one. */
  readonly cluster?: Cluster
  /** Further variables. */
  readonly env?: NodeJS.ProcessEnv
}

/** Starts the service on a free port, without a log. Queries may take as long as on a busy machine, unless `env` says else. */
export const startTestService = ({
  store,
  cluster = toCluster(store),
  env,
  ...options
}: TestServiceOptions): Promise<RunningService> =>
  startService({
    config: readConfig({ PORT: '0', NODE_ENV: 'test', QUERY_TIMEOUT_MS: '60000', ...env }),
    cluster,
    logger: createLogger('silent'),
    ...options,
  })
