/** The routes of public dashboards: the explorer of a project and its questions, without an API key. */
import type { QueryApi } from '../../http/query/query-api.js'
import { keepWords } from '../../http/share/explain-in-words.js'
import { readShare, type ShareDependencies } from '../../http/share/read-share.js'
import type { ShareCounters } from '../../http/share/share-limits.js'
import { buildSharePage } from '../../http/share/share-page.js'
import { SHARE } from '../../http/share/share-path.js'
import type { RouteTable } from '../../http/server/routes.js'
import type { Contract } from '../../http/validation/contract.js'
import { buildAnalyticsRoutes } from './api-routes.js'

/** Builds the routes: the page, and below its path those of the questions. */
export function buildShareRoutes(
  { shares, ...api }: QueryApi & { readonly shares: ShareDependencies },
  { byAddress, byDashboard, byBoth }: ShareCounters,
  contract: Contract,
  stopping: AbortSignal,
): RouteTable {
  const checkReader = [byAddress, readShare(shares.find), byDashboard]
  const ofReaders = { ...api, presentExplanation: keepWords, streams: shares.streams }
  const routes = buildAnalyticsRoutes(ofReaders, () => checkReader, byBoth, contract, stopping)
  return {
    [SHARE]: { get: buildSharePage(shares.find, byAddress) },
    ...Object.fromEntries(Object.entries(routes).map(([path, way]) => [SHARE + path, way])),
  }
}
