/** Starts the service on a store, for tests that ask it over HTTP. */
import { startService, type RunningService } from '../../../src/bootstrap/start-service.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { readConfig } from '../../../src/config/config.js'
import { createLogger } from '../../../src/lib/log.js'

export interface TestServiceOptions {
  readonly store: Store
  readonly now: () => Date
  /** Further variables. */
  readonly env?: NodeJS.ProcessEnv
}

/** Starts the service on a free port, without a log. */
export const startTestService = ({
  store,
  now,
  env,
}: TestServiceOptions): Promise<RunningService> =>
  startService({
    config: readConfig({ PORT: '0', NODE_ENV: 'test', ...env }),
    opened: { store },
    logger: createLogger('silent'),
    now,
  })
