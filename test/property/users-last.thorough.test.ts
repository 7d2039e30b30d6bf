/** Queries of a project across two shards that count users last: the bytes of counting all at once. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { chooseShard } from '../../src/cluster/choose-shard.js'
import type { StoredProject } from '../../src/projects/project.js'
import { startCluster, type TestCluster } from '../support/cluster/cluster.js'
import { answerWithUsersLast } from '../support/cluster/users-last.js'
import { placeOn } from '../support/cluster/senders.js'
import { newWideProject, runQuery, sendToShards } from '../support/cluster/wide-world.js'
import { NOW, type PartialRequest, type SentEvent } from '../support/world/world.js'

let cluster: TestCluster
/** Those of the cases, and of the letters. */
let projects: readonly StoredProject[]

beforeAll(async () => {
  cluster = await startCluster(2)
  const worlds = [...CASES.map(([, events]) => events), ...LETTERS.map(listLongPaths)]
  projects = await createAll(worlds)
})
afterAll(() => cluster.stop())

/** Users whose events lie on a shard, by its position. */
const listUsers = (shard: number, count: number): readonly string[] =>
  Array.from({ length: 8 * count + 20 }, (_, i) => `u${i}`)
    .filter((user_id) => chooseShard({ user_id }, placeOn(2), NOW) === shard)
    .slice(0, count)

const DAY = '2026-01-15T10:00:00Z'
/** How many pageviews of a path each of these users has. */
const view = (path: string, users: readonly string[], times = 1): readonly SentEvent[] =>
  users.flatMap((user_id) =>
    Array.from({ length: times }, () => ({ timestamp: DAY, user_id, path })),
  )

/** Loads the events of several projects at once. */
const sendAll = (
  sent: readonly (readonly [StoredProject, readonly SentEvent[]])[],
): Promise<void> =>
  sendToShards(
    cluster,
    sent.map(([project]) => project),
    sent.flatMap(([{ id }, events]) => events.map((event) => ({ ...event, project: id }))),
  )

async function createAll(
  worlds: readonly (readonly SentEvent[])[],
): Promise<readonly StoredProject[]> {
  const projects = await Promise.all(worlds.map(() => newWideProject(cluster, cluster.shards)))
  await sendAll(projects.map((project, i) => [project, worlds[i]!]))
  return projects
}

type Asked = Partial<PartialRequest>
const BY_PAGEVIEWS: Asked = { order_by: [['pageviews', 'desc']] }
const MONTH: PartialRequest = { date_range: ['2026-01-01', '2026-01-31'], group_by: ['page:path'] }
const ALL_METRICS = ['users', 'pageviews', 'events', 'bounce_rate', 'visit_duration'] as const

/** Answers with users counted last, and expects the bytes of counting them all at once. */
async function expectSame(project: StoredProject, asked: Asked): Promise<void> {
  const request = { ...MONTH, ...asked }
  const want = await runQuery(cluster, project, request)
  const answers = await answerWithUsersLast(cluster, project, request)
  expect(answers.length).toBeGreaterThan(0)
  for (const body of answers) expect(JSON.stringify(body)).toBe(JSON.stringify(want))
}

const [A, B] = [listUsers(0, 12), listUsers(1, 12)]

const CASES: readonly (readonly [string, readonly SentEvent[], Asked])[] = [
  ['no group', [], {}],
  ['no group, by another metric', [], { order_by: [['pageviews', 'desc']] }],
  [
    'groups on one shard only, and on both',
    [...view('/a', A), ...view('/b', B.slice(0, 3)), ...view('/c', [...A, ...B].slice(5, 20))],
    { metrics: [...ALL_METRICS] },
  ],
  [
    'by another metric: only the groups on the page are counted',
    [...view('/a', A), ...view('/b', B.slice(0, 3)), ...view('/c', B)],
    { order_by: [['pageviews', 'asc']], limit: 2 },
  ],
  [
    'by a ratio',
    [...view('/a', A), ...view('/b', B.slice(0, 3), 2), ...view('/c', B)],
    { metrics: [...ALL_METRICS], order_by: [['bounce_rate', 'desc']], limit: 2 },
  ],
  [
    'by group',
    [...view("/it's", A), ...view('/é', B), ...view('/\\', B), ...view('/😀', A), ...view('/z', A)],
    { order_by: [['page:path', 'desc']], limit: 3, offset: 1 },
  ],
  [
    'groups with many events and few users: the others are counted too',
    [
      ...['/1', '/2', '/3', '/4'].flatMap((path) => view(path, A.slice(0, 1), 12)),
      ...view('/5', [...A, ...B].slice(0, 11)),
      ...view('/6', A.slice(0, 1)),
    ],
    { limit: 1 },
  ],
  [
    'a tie at the bound is decided by the key, also of a group that was not counted first',
    [
      ...['/1', '/2', '/3', '/4'].flatMap((path) => view(path, A.slice(0, 3), 2)),
      ...view('/0', B.slice(0, 3)),
      ...view('/00', B.slice(0, 2)),
    ],
    { limit: 1 },
  ],
  [
    'keys are ordered as bytes',
    ['/\u{1F600}', '/\uFB01', '/z', '/Z'].flatMap((path) => view(path, A.slice(0, 2))),
    { limit: 3 },
  ],
  ['beyond the end', view('/a', A), { offset: 5 }],
  [
    'beyond the end, by another metric',
    view('/a', A),
    { offset: 5, order_by: [['events', 'desc']] },
  ],
  [
    'a filter',
    [...view('/a', A), ...view('/b', B)],
    {
      filters: [{ type: 'page', path: { operator: 'startsWith', value: '/b' } }],
    },
  ],
  [
    'a property, also with an empty value',
    ['', 'pro', "x'; --", 'a\\'].flatMap((plan, i) =>
      [...A, ...B].slice(i).map((user_id) => ({
        timestamp: DAY,
        user_id,
        name: 'signup',
        properties: { plan },
      })),
    ),
    { group_by: ['event:prop:plan'], limit: 3 },
  ],
  [
    'an attribute that some events lack',
    [...view('/a', A), ...view('/b', B).map((event) => ({ ...event, city: 'Rome' }))],
    { group_by: ['city'], metrics: [...ALL_METRICS] },
  ],
]

test.each(CASES.map(([what, , asked], i) => [what, i, asked] as const))('%s', (_what, i, asked) =>
  expectSame(projects[i]!, asked),
)

/** Characters that the client or ClickHouse writes as several. */
const LETTERS = ["'", '\\', '\u0001', 'é', '"']
const listLongPaths = (letter: string): readonly SentEvent[] =>
  Array.from({ length: 90 }, (_, i) => `/${letter.repeat(1_000)}${i}`).flatMap((path) =>
    view(path, A.slice(0, 1)),
  )

test.each(LETTERS.map((letter, i) => [letter, CASES.length + i] as const))(
  'keys that are too long for the parameter of a statement: %p',
  async (_letter, i) => {
    await expectSame(projects[i]!, { limit: 20 })
    await expectSame(projects[i]!, { limit: 90 })
    await expectSame(projects[i]!, { limit: 90, ...BY_PAGEVIEWS })
  },
)

test('100,000 paths, most of which have a single event', async () => {
  const paths = Array.from({ length: 100_000 }, (_, i) => `/${i}`)
  const users = [...listUsers(0, 1_000), ...listUsers(1, 1_000)]
  const single = paths.flatMap((path, i) => view(path, [users[i % users.length]!]))
  const popular = paths
    .slice(0, 300)
    .flatMap((path, i) => view(path, users.slice(i, i + 1 + (i % 40))))
  const [project] = await createAll([[...single, ...popular]])
  const expectAll = (asked: Asked): Promise<void> =>
    expectSame(project!, { metrics: [...ALL_METRICS], ...asked })
  await expectAll({ limit: 20, offset: 5 })
  await expectAll({ limit: 20, offset: 5, ...BY_PAGEVIEWS })
  // Any group can be on the page.
  const filters: Asked['filters'] = [
    { type: 'page', path: { operator: 'startsWith', value: '/99' } },
  ]
  await expectAll({ limit: 20, filters })
})
