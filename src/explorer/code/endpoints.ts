/** The operations that the page asks: their paths, and their names in the client for TypeScript. A new one is a row. */
import type { Query } from '../client/contract.js'

interface Endpoint {
  readonly path: string
  /** The function of the client. */
  readonly method: string
  /** The path of the operation that explains it; undefined if there is none. */
  readonly explainPath?: string
}

export const ENDPOINTS: Readonly<Record<Query['operation'], Endpoint>> = {
  query: {
    path: '/v1/analytics/query',
    method: 'query',
    explainPath: '/v1/analytics/explain',
  },
  retention: {
    path: '/v1/analytics/retention',
    method: 'retention',
    explainPath: '/v1/analytics/retention/explain',
  },
  funnel: {
    path: '/v1/analytics/funnel',
    method: 'funnel',
    explainPath: '/v1/analytics/funnel/explain',
  },
  values: { path: '/v1/analytics/values', method: 'values' },
}

/** How a program reaches the API: the address before the paths, and the API key; undefined for public dashboards. */
export interface ApiAccess {
  readonly base: string
  readonly key: string | undefined
}
