/** A small project with known numbers, and a service that answers about it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { issueKey } from '../../../../src/auth/api-keys.js'
import { openSigningKey } from '../../../../src/auth/signing-key.js'
import type { Store } from '../../../../src/clickhouse/store.js'
import type { Definition } from '../../../../src/model/definitions.js'
import { writeDefinition } from '../../../../src/projects/definitions.js'
import type { NewProject } from '../../../../src/projects/project.js'
import { packagePath } from '../../../../src/lib/package-path.js'
import { createDatabase } from '../../../support/store/database.js'
import { startTestService } from '../../../support/world/service.js'
import { createWorld, type SentEvent } from '../../../support/world/world.js'

/** The moment of all answers. */
export const NOW = new Date('2026-03-01T12:00:00Z')

/** A text that a page must show as it is. */
export const MARKUP = '<img src=x onerror="document.title=1"><b>&amp;'

const MINUTE = 60_000
const COUNTRIES = ['DE', 'FR', 'US', '']
const PATHS = ['/', '/pricing', `/blog/${MARKUP}`, '/docs', '/a', '/b', '/c', '/d', '/e', '/f']
const SOURCES: readonly object[] = [
  {},
  { utm_source: 'news', utm_medium: 'email', utm_campaign: 'spring' },
  { referrer_url: 'https://www.google.com/' },
]
const DEVICES: readonly object[] = [
  { browser: 'Firefox', os: 'Linux', device_type: 'desktop' },
  { browser: 'Safari', os: 'iOS', device_type: 'mobile' },
]

/** The nth visit: one to four pageviews, and sometimes a sign-up. They come every 9 hours, the last just now: most of 20 users again and again, and
 * every sixth of somebody who comes once. */
function listEvents(n: number): readonly SentEvent[] {
  const start = NOW.getTime() - n * 9 * 60 * MINUTE - MINUTE
  const shared = {
    user_id: n % 6 === 1 ? `once${n}` : `u${(n * 7) % 20}`,
    country: COUNTRIES[n % 4],
    origin: 'https://example.com',
    ...SOURCES[n % 3],
    ...DEVICES[n % 2],
  }
  const at = (minutes: number): string => new Date(start - minutes * MINUTE).toISOString()
  const pageviews = Array.from({ length: 1 + (n % 4) }, (_, i) => ({
    ...shared,
    timestamp: at(i),
    path: PATHS[(n + i * 3) % 10],
  }))
  const signup = {
    ...shared,
    timestamp: at(0),
    path: '/pricing',
    name: 'signup',
    properties: {
      plan: ['free', 'pro'][n % 2],
      [MARKUP]: n % 3,
      ...(n < OLDEST ? {} : { currency: ['EUR', 'CHF'][(n >> 1) % 2] }),
    },
  }
  return n % 5 === 0 ? [...pageviews, signup] : pageviews
}

/** The visits of about 12 weeks. */
const VISITS = 220
/** The visits of the first week, whose sign-ups have currencies. */
const OLDEST = 200

const DEFINITIONS: readonly Definition[] = [
  {
    kind: 'goal',
    name: 'pro',
    filters: [{ property: 'plan', operator: 'is', value: ['pro'] }],
    value: null,
  },
  {
    kind: 'goal',
    name: 'paid',
    filters: [{ property: 'plan', operator: 'is', value: ['pro'] }],
    value: `event:prop:${MARKUP}`,
  },
  {
    kind: 'goal',
    name: 'pricing',
    filters: [{ field: 'page:path', operator: 'is', value: ['/pricing'] }],
    value: null,
  },
  {
    kind: 'segment',
    name: 'french-phones',
    filters: [
      { field: 'country', operator: 'is', value: ['FR'] },
      { field: 'device_type', operator: 'is', value: ['mobile'] },
    ],
    value: null,
  },
  {
    kind: 'segment',
    name: 'firefox',
    filters: [{ field: 'browser', operator: 'is', value: ['Firefox'] }],
    value: null,
  },
]

export interface ExploredService {
  readonly address: string
  /** The id of the project. */
  readonly id: string
  /** An API key of the project. */
  readonly key: string
  readonly store: Store
  readonly stop: () => Promise<void>
}

/** Starts a service with the project. @param fields of the project that differ */
export async function startExploredService(
  fields: Partial<NewProject> = {},
): Promise<ExploredService> {
  const dataDir = await mkdtemp(packagePath('dist/explorer-'))
  const database = await createDatabase()
  const { store } = database
  const events = Array.from({ length: VISITS }, (_, n) => listEvents(n)).flat()
  const project = await createWorld(store, events, { name: 'Known numbers', ...fields })
  for (const definition of DEFINITIONS) {
    await writeDefinition(store.writer, project.id, { definition, isDeleted: false, version: 1 })
  }
  const service = await startTestService({ store, now: () => NOW, env: { DATA_DIR: dataDir } })
  const signingKey = await openSigningKey({ store, dataDir }, NOW)
  const request = { projectId: project.id, name: 'explorer', expiresAt: null }
  const { token } = await issueKey(store, signingKey, request, NOW)
  return {
    address: service.address,
    id: project.id,
    key: token,
    store,
    stop: async () => {
      await service.stop()
      await database.drop()
      await rm(dataDir, { recursive: true })
    },
  }
}

/** The members by which the bodies of operations are told apart; the others are queries. */
const OPERATIONS: readonly (readonly [member: string, operation: string])[] = [
  ['interval', 'retention'],
  ['steps', 'funnel'],
  ['from', 'journeys'],
  ['to', 'journeys'],
]

const findOperation = (body: object): string =>
  OPERATIONS.find(([member]) => member in body)?.[1] ?? 'query'

/** What the API answers to some queries, asked in one request. The operation of each is the one whose body it is. */
export async function askApi(
  { address, key }: Pick<ExploredService, 'address' | 'key'>,
  bodies: readonly object[],
): Promise<readonly unknown[]> {
  const queries = bodies.map((body, n) => ({
    id: String(n),
    operation: findOperation(body),
    body,
  }))
  const response = await fetch(`${address}/v1/analytics/batch`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ queries }),
  })
  const { results } = (await response.json()) as {
    readonly results: readonly { readonly body: unknown }[]
  }
  return results.map(({ body }) => body)
}
