/** A consumer of the generated types, which needs no casts and no types of its own. */
import createClient from 'openapi-fetch'
import type { paths } from './schema.js'

export async function topCountries(baseUrl: string, key: string) {
  const client = createClient<paths, 'application/json'>({
    baseUrl,
    headers: { Authorization: `Bearer ${key}` },
  })
  const { data: project } = await client.GET('/v1/project')
  const { data, error, response } = await client.POST('/v1/analytics/query', {
    body: {
      date_range: ['2026-01-01', '2026-01-31'],
      metrics: ['users', 'bounce_rate'],
      group_by: ['country'],
      order_by: [['users', 'desc']],
      filters: [
        { type: 'page', path: { value: '/', operator: 'startsWith' } },
        { type: 'device', value: ['mobile'], operator: 'noneOf' },
      ],
    },
  })
  if (error !== undefined) return { status: response.status, code: error.error.code }
  return {
    domain: project?.project.domain,
    from: data.period.from,
    rows: data.data.map(({ group, metrics }) => ({
      country: group['country'],
      users: metrics.users ?? 0,
      bounceRate: metrics.bounce_rate ?? null,
    })),
    more: data.pagination.total > data.pagination.returned,
  }
}
