/** Creates what public dashboards need beside the use cases of the query API. */
import { createPublicReaders } from '../../auth/public-readers.js'
import { LEAST_PACE } from '../../http/formats/reader-pace.js'
import { createQueryQueue, type PlaceLimits } from '../../http/query/queue/query-queue.js'
import type { ShareDependencies } from '../../http/share/read-share.js'
import type { ServiceOptions } from './service-options.js'

/** How many answers are streamed to viewers at once. They have a queue of their own: API keys keep their places. */
const STREAMS: PlaceLimits = {
  perKey: 1,
  inAll: 2,
  waiting: 32,
  owner: 'public dashboard',
  leastPace: LEAST_PACE,
}

export const createShares = ({ cluster, config, now }: ServiceOptions): ShareDependencies => ({
  ...createPublicReaders({ reader: cluster.home.store.lookups }, now),
  limits: config.shareLimits,
  streams: createQueryQueue({ ...STREAMS, timeoutMs: config.queryTimeoutMs }),
})
