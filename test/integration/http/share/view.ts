/** Asks public dashboards over HTTP. */
import type { RunningService } from '../../../../src/bootstrap/serving/start-service.js'

export const PERIOD = { date_range: ['2026-06-01', '2026-06-14'] }
const STEPS = [
  { filters: [{ type: 'page', path: { operator: 'eq', value: '/' } }] },
  { filters: [{ type: 'event', name: { operator: 'eq', value: 'signup' } }] },
]
const FUNNEL = { ...PERIOD, steps: STEPS }
export const QUERY = {
  ...PERIOD,
  metrics: ['users', 'visits', 'bounce_rate'],
  group_by: ['country'],
}
export const BATCH = {
  queries: [
    { id: 'a', operation: 'query', body: QUERY },
    { id: 'b', operation: 'values', body: { ...PERIOD, field: 'page:path' } },
    { id: 'c', operation: 'funnel', body: FUNNEL },
    { id: 'd', operation: 'query', body: { date_range: 'never' } },
  ],
}

/** Asks a service as a viewer of a project, by its id or public token. */
export const view = (
  name: string,
  operation: string,
  body: unknown,
  { address }: Pick<RunningService, 'address'>,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(`${address}/share/${name}/v1/analytics/${operation}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

export const readBytes = async (response: Response) => ({
  status: response.status,
  type: response.headers.get('content-type'),
  etag: response.headers.get('etag'),
  bytes: Buffer.from(await response.arrayBuffer()).toString('latin1'),
})
