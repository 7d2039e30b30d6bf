/** The operations that the page uses: their paths, and their names in the client for TypeScript. A new one is a row. */
import type { Query } from '../client/contract.js'
import { DETAILS } from '../queries/details.js'

interface Endpoint<Asked> {
  readonly path: string
  /** The function of the client. */
  readonly method: string
  /** The path of the operation that explains it; undefined if there is none. */
  readonly explainPath?: string
  /** Names what a file of its rows contains; undefined if they come as JSON alone. */
  readonly nameContent?: (query: Asked) => string
  /** Whether it takes an admin key, and belongs to the client of management. */
  readonly isForAdmin?: true
}

/** A query of one operation. */
type Of<Name> = Extract<Query, { readonly operation: Name }>

export const ENDPOINTS: { readonly [Name in Query['operation']]: Endpoint<Of<Name>> } = {
  query: {
    path: '/v1/analytics/query',
    method: 'query',
    explainPath: '/v1/analytics/explain',
    nameContent: nameGroups,
  },
  retention: {
    path: '/v1/analytics/retention',
    method: 'retention',
    explainPath: '/v1/analytics/retention/explain',
    nameContent: ({ body }) => `retention-by-${body.interval}`,
  },
  funnel: {
    path: '/v1/analytics/funnel',
    method: 'funnel',
    explainPath: '/v1/analytics/funnel/explain',
    nameContent: () => 'funnel',
  },
  journeys: {
    path: '/v1/analytics/journeys',
    method: 'journeys',
    explainPath: '/v1/analytics/journeys/explain',
    nameContent: () => 'journeys',
  },
  values: {
    path: '/v1/analytics/values',
    method: 'values',
    nameContent: ({ body }) => `values-of-${body.field}`,
  },
  projects: { path: '/v1/analytics/projects', method: 'queryProjects', isForAdmin: true },
}

function nameGroups({ id, body }: Of<'query'>): string {
  const [group] = body.group_by ?? []
  const metrics = (body.metrics ?? []).map((metric) =>
    typeof metric === 'string' ? metric : metric.as,
  )
  if (group === undefined) return id === 'cards' ? 'totals' : metrics.join('-')
  if (group.startsWith('interval:')) return `${metrics.join('-')}-over-time`
  // A panel has some of the metrics that are in the file of its details.
  return id.startsWith(DETAILS) ? `${group}-details` : group
}

/** How a program reaches the API: the address before the paths, and the key; undefined for public dashboards. */
export interface ApiAccess {
  readonly base: string
  readonly key: string | undefined
}
