/** The events in the store of a release, which `scripts/make-release-store.ts` makes, and what they count. */
import type { SentEvent } from '../world/world.js'

const at = (
  time: string,
  user_id: string,
  path: string,
  rest: Readonly<Record<string, unknown>> = {},
): SentEvent => ({ timestamp: `2026-01-${time}Z`, user_id, path, ...rest })

/** A visitor without an id, whose visit goes on over midnight. */
const visitor = {
  user_id: null,
  ip: '203.0.113.7',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  country: 'DE',
}

export const PUBLISHED: readonly SentEvent[] = [
  at('10T10:00:00', 'a', '/', { country: 'DE', event_id: 'first' }),
  at('10T10:10:00', 'a', '/pricing', { country: 'DE' }),
  at('10T10:00:00', 'b', '/', { country: 'FR' }),
  at('20T12:00:00', 'c', '/blog', { country: 'DE' }),
  at('20T12:01:00', 'c', '/blog', { name: 'signup', properties: { plan: 'pro' } }),
  at('20T23:50:00', '', '/', visitor),
  at('21T00:05:00', '', '/', visitor),
]

/** A late event that moves a stored visit to another country, an event that was published, and a new user. */
export const STAGED: readonly SentEvent[] = [
  at('10T09:50:00', 'a', '/early', { country: 'AT' }),
  at('10T10:00:00', 'a', '/', { country: 'DE', event_id: 'first' }),
  at('31T09:00:00', 'd', '/', { country: 'DE', event_id: 'staged' }),
]

/** An event that goes on with the staged visit, the staged event again, and a user without a visit. */
export const WAITING: readonly SentEvent[] = [
  at('31T09:10:00', 'd', '/pricing', { country: 'DE' }),
  at('31T09:00:00', 'd', '/', { country: 'DE', event_id: 'staged' }),
  at('31T09:20:00', 'e', '/', { country: 'FR', name: 'signup', properties: { plan: 'free' } }),
]

/** The rows of a query of `COUNTED.metrics` by country, once everything is counted. */
export const COUNTED = {
  request: {
    date_range: ['2026-01-01', '2026-01-31'],
    metrics: ['users', 'pageviews', 'events', 'visits', 'bounce_rate', 'visit_duration'],
    group_by: ['country'],
    include: { totals: true },
  },
  data: [
    {
      group: { country: 'DE' },
      metrics: row(3, 5, 1, 3, 0, 520),
    },
    {
      group: { country: 'FR' },
      metrics: row(2, 1, 1, 1, 100, 0),
    },
    {
      group: { country: 'AT' },
      metrics: row(1, 3, 0, 1, 0, 1200),
    },
  ],
  totals: { metrics: row(6, 9, 2, 5, 20, 552) },
}

function row(
  ...[users, pageviews, events, visits, bounce_rate, visit_duration]: readonly number[]
): object {
  return { users, pageviews, events, visits, bounce_rate, visit_duration }
}
