/** How events are stored: pages, sources, users and excluded events, on a real engine. */
import { describe, expect, test } from '@jest/globals'
import { identifier, sql, string, type Sql } from '../../../../src/clickhouse/sql.js'
import type { NewProject, StoredProject } from '../../../../src/projects/project.js'
import { withDatabase } from '../../../support/store/database.js'
import { expectConsistentFacts, select } from '../../../support/store/facts.js'
import { runQuery, newProject, send, sendText } from '../../../support/world/world.js'

const database = withDatabase()

type Fields = Readonly<Record<string, unknown>>
type Stored = Readonly<Record<string, unknown>>

/** Loads events, each of another user, and returns what is stored of them, in order. */
async function stored(
  events: readonly Fields[],
  columns: Sql,
  fields: Partial<NewProject> = {},
): Promise<readonly Stored[]> {
  const project = await newProject(database.store, fields)
  const { rejections } = await send(
    database.store,
    project,
    events.map((event, n) => ({
      timestamp: new Date(Date.parse('2026-01-31T10:00:00Z') + n).toISOString(),
      user_id: `u${n}`,
      ...event,
    })),
  )
  expect(rejections).toEqual([])
  await expectConsistentFacts(database.store, project.id)
  return select(
    database.store,
    sql`SELECT ${columns} FROM events WHERE project_id = ${string(project.id)} ORDER BY timestamp`,
  )
}

/** Loads all given events in one batch, and compares what is stored with what is wanted. */
async function check(
  cases: readonly (readonly [given: Fields, want: Stored])[],
  columns: Sql,
): Promise<void> {
  const rows = await stored(
    cases.map(([given]) => given),
    columns,
  )
  expect(cases.map(([given], n) => [given, rows[n]])).toEqual(cases)
}

const PAGE = sql`origin, path, hash`

test('a URL gives origin, path and hash; fields of the event take precedence', () =>
  check(
    (
      [
        ['https://example.com', 'https://example.com', '/', ''],
        ['https://example.com/', 'https://example.com', '/', ''],
        ['HTTPS://Example.COM/Path', 'https://example.com', '/Path', ''],
        ['https://example.com:443/a', 'https://example.com', '/a', ''],
        ['http://example.com:80/a', 'http://example.com', '/a', ''],
        ['http://example.com:443/a', 'http://example.com:443', '/a', ''],
        ['https://example.com:8443/a', 'https://example.com:8443', '/a', ''],
        ['https://me:secret@example.com/a', 'https://example.com', '/a', ''],
        ['https://example.com/a?q=1#top', 'https://example.com', '/a', 'top'],
        ['https://example.com?q=1', 'https://example.com', '/', ''],
        ['https://example.com#top', 'https://example.com', '/', 'top'],
        ['https://example.com/a#b#c?d', 'https://example.com', '/a', 'b#c?d'],
        ['https://example.com/a#', 'https://example.com', '/a', ''],
        ['https://example.com/a@b:c//d/', 'https://example.com', '/a@b:c//d/', ''],
        ['https://example.com/%20ü%zz', 'https://example.com', '/%20ü%zz', ''],
        ['http://[2001:DB8::1]:80/a', 'http://[2001:db8::1]', '/a', ''],
        ['app://my.app/a', 'app://my.app', '/a', ''],
      ] as const
    ).map(([url, origin, path, hash]) => [{ url }, { origin, path, hash }]),
    PAGE,
  ))

test('origin, path and hash take precedence over the URL, each alone', () =>
  check(
    [
      [
        { url: 'https://a.b/c#d', origin: 'O', path: 'P', hash: 'H' },
        { origin: 'O', path: 'P', hash: 'H' },
      ],
      [
        { url: 'https://a.b/c#d', path: 'P' },
        { origin: 'https://a.b', path: 'P', hash: 'd' },
      ],
      [
        { url: 'https://a.b/c#d', path: '' },
        { origin: 'https://a.b', path: '/c', hash: 'd' },
      ],
      [{ hash: 'H' }, { origin: '', path: '', hash: 'H' }],
      [{}, { origin: '', path: '', hash: '' }],
    ],
    PAGE,
  ))

const UTM = sql`
  utm_source, utm_medium, utm_campaign, utm_content, utm_term,
  isValidUTF8(concat(utm_source, utm_medium)) AS is_text`
const utm = (query: string, ...values: readonly string[]): readonly [Fields, Stored] => [
  { url: `https://example.com/${query}` },
  {
    ...Object.fromEntries(
      ['source', 'medium', 'campaign', 'content', 'term'].map((tag, n) => [
        `utm_${tag}`,
        values[n] ?? '',
      ]),
    ),
    is_text: 1,
  },
]

test('the utm values of a URL are decoded', () =>
  check(
    [
      utm(
        '?utm_source=a&utm_medium=b&utm_campaign=c&utm_content=d&utm_term=e',
        'a',
        'b',
        'c',
        'd',
        'e',
      ),
      utm('?x=1&utm_source=a+b%20c%2Bd&y', 'a b c+d'),
      utm('?utm_source=%C3%BC%F0%9F%98%80', 'ü😀'),
      utm('?utm_source=100%&utm_medium=%zz%2', '100%', '%zz%2'),
      utm('?utm_source=%FFa&utm_medium=%C3', '\uFFFDa', '\uFFFD'),
      utm('?utm_source=a%00b', 'ab'),
      utm('?utm_source=first&utm_source=second', 'first'),
      utm('?utm_source=&utm_medium', ''),
      utm('?xutm_source=a&UTM_SOURCE=b', ''),
      utm('?a=utm_source=b', ''),
      utm('#?utm_source=a', ''),
      utm('?utm_source=a#b', 'a'),
      utm('utm_source=a', ''),
      [
        { url: 'https://a.b/?utm_source=a&utm_medium=b', utm_source: 'said' },
        { ...utm('', 'said', 'b')[1] },
      ],
    ],
    UTM,
  ))

const REFERRER = sql`referrer, referrer_url, referrer_type`
const from = (
  fields: Fields,
  referrer: string,
  referrer_url: string,
  referrer_type: string,
): readonly [Fields, Stored] => [fields, { referrer, referrer_url, referrer_type }]

test("a referrer is named by its host without www; pages of the project's domain are no referrers", () =>
  check(
    [
      from({}, '', '', 'direct'),
      ...['https://a.org/x?y', 'https://www.a.org/', 'http://WWW.A.org:8080/', 'https://a.org'].map(
        (referrer_url) => from({ referrer_url }, 'a.org', referrer_url, 'unknown'),
      ),
      from({ referrer_url: 'https://www2.a.org/' }, 'www2.a.org', 'https://www2.a.org/', 'unknown'),
      ...['https://example.com/a', 'https://blog.example.com', 'https://WWW.Example.com/'].map(
        (referrer_url) => from({ referrer_url }, '', '', 'direct'),
      ),
      ...['notexample.com', 'example.com.evil.org'].map((host) =>
        from({ referrer_url: `https://${host}/` }, host, `https://${host}/`, 'unknown'),
      ),
      from({ referrer: 'News' }, 'News', '', 'unknown'),
      from({ referrer: 'News', referrer_type: 'email' }, 'News', '', 'email'),
      from(
        { referrer: 'News', referrer_url: 'https://a.org/' },
        'News',
        'https://a.org/',
        'unknown',
      ),
      from({ referrer: 'News', referrer_url: 'https://example.com/' }, 'News', '', 'unknown'),
      from({ referrer_type: 'social' }, '', '', 'social'),
    ],
    REFERRER,
  ))

test('a visit with utm values or a click id is not direct, even without a referrer', () =>
  check(
    [
      ...['utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term'].flatMap((tag) => [
        from({ [tag]: 'some' }, '', '', 'unknown'),
        from({ url: `https://a.b/?${tag}=some` }, '', '', 'unknown'),
      ]),
      from({ url: 'https://a.b/?utm_medium=cpc' }, '', '', 'paid'),
      from({ utm_source: 'newsletter', utm_medium: 'email' }, '', '', 'email'),
      ...['gclid', 'msclkid', 'ttclid'].map((id) =>
        from({ url: `https://a.b/?a=1&${id}=x` }, '', '', 'paid'),
      ),
      from({ url: 'https://a.b/?a=1&fbclid=x' }, '', '', 'social'),
      ...['?notgclid=1', '?a=gclid', '#?gclid=1', '?utm_source='].map((rest) =>
        from({ url: `https://a.b/${rest}` }, '', '', 'direct'),
      ),
    ],
    REFERRER,
  ))

test('property values that are not strings are stored as their JSON text', async () => {
  const project = await newProject(database.store)
  const properties =
    '{"s":"x","e":"","n":1,"f":-1.50,"t":true,"z":null,"o":{"a": [1, "b"]},"q":"\\"\\u00fc\\n","d":1,"d":2,"__proto__":"p"}'
  await sendText(
    database.store,
    project,
    `{"timestamp":"2026-01-31T10:00:00Z","user_id":"u","properties":${properties}}`,
  )
  const [row] = await select<{ properties: Stored }>(
    database.store,
    sql`SELECT properties FROM events WHERE project_id = ${string(project.id)}`,
  )
  expect(Object.entries(row!.properties).sort()).toEqual(
    Object.entries({
      s: 'x',
      e: '',
      n: '1',
      f: '-1.5',
      t: 'true',
      z: 'null',
      o: '{"a":[1,"b"]}',
      q: '"ü\n',
      d: '2',
    })
      .concat([['__proto__', 'p']])
      .sort(),
  )
})

test('if a property occurs twice, its last value counts, once', async () => {
  const project = await newProject(database.store)
  const line = (user: string, properties: string): string =>
    `{"timestamp":"2026-01-31T10:00:00Z","user_id":"${user}","properties":${properties}}`
  const lines = [line('u', '{"plan":"a","n":1,"plan":"b"}'), line('v', '{"plan":"b","plan":"b"}')]
  await sendText(database.store, project, lines.join('\n'))
  // Read from rollups, and from events.
  for (const end of ['2026-01-31', '2026-01-31T10:00:00Z']) {
    const { data } = await runQuery(database.store, project, {
      date_range: ['2026-01-31', end],
      group_by: ['event:prop:plan'],
    })
    expect(data).toEqual([
      { group: { 'event:prop:plan': 'b' }, metrics: { users: 2, pageviews: 2, events: 0 } },
    ])
  }
})

describe('long values', () => {
  const LONG = '😀'.repeat(1_025)
  const CUT = '😀'.repeat(1_024)
  const FIELDS = ['city', 'browser', 'os', 'referrer', 'utm_source', 'path', 'origin'] as const

  test('are cut, so that a returned group can be used in a filter', async () => {
    const project = await newProject(database.store)
    const long = Object.fromEntries(FIELDS.map((field) => [field, LONG]))
    await send(database.store, project, [
      { timestamp: '2026-01-31T10:00:00Z', user_id: 'u', ...long },
      {
        timestamp: '2026-01-31T10:00:00Z',
        user_id: 'v',
        url: `https://a.b/${LONG}#${LONG}`,
        properties: { plan: LONG },
      },
    ])
    const range = { date_range: ['2026-01-31', '2026-01-31'] as const }
    const { data } = await runQuery(database.store, project, {
      ...range,
      group_by: ['event:prop:plan'],
    })
    expect(data.map(({ group }) => group['event:prop:plan'])).toEqual([CUT])
    for (const field of FIELDS.slice(0, -2)) {
      const answer = await runQuery(database.store, project, {
        ...range,
        group_by: [field as 'city'],
      })
      expect(answer.data.map(({ group }) => group[field])).toEqual(['', CUT])
    }
    const byPath = await runQuery(database.store, project, {
      ...range,
      filters: [{ type: 'page', path: { operator: 'eq', value: `/${CUT}`.slice(0, -2) } }],
    })
    expect(byPath.data[0]!.metrics.pageviews).toBe(1)
  })
})

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

describe('users', () => {
  const visit = (day: number, ip: string, agent: string): Fields => ({
    timestamp: `2026-01-${day}T10:00:00Z`,
    user_id: null,
    ip,
    user_agent: agent,
  })
  const IP = '203.0.113.77'

  const usersOf = async (project: StoredProject): Promise<readonly Stored[]> =>
    select(
      database.store,
      sql`
SELECT toDate(timestamp) AS day, anonymous, uniqExact(user) AS users, count() AS n
FROM events WHERE project_id = ${string(project.id)} GROUP BY ALL ORDER BY ALL`,
    )

  test('without an id are distinguished by address and user agent, for one day', async () => {
    const project = await newProject(database.store)
    for (const day of [20, 21]) {
      await send(database.store, project, [
        visit(day, IP, FIREFOX),
        visit(day, IP, FIREFOX),
        visit(day, IP, CHROME),
        visit(day, '203.0.113.78', FIREFOX),
      ] as never)
      await send(database.store, project, [visit(day, IP, FIREFOX)] as never)
    }
    expect(await usersOf(project)).toEqual([
      { day: '2026-01-20', anonymous: true, users: 3, n: 5 },
      { day: '2026-01-21', anonymous: true, users: 3, n: 5 },
    ])
    const all = await select(
      database.store,
      sql`SELECT uniqExact(user) AS n FROM events WHERE project_id = ${string(project.id)}`,
    )
    expect(all).toEqual([{ n: 6 }])
  })

  test('of two projects are different users', async () => {
    const ids = async (): Promise<unknown> => {
      const project = await newProject(database.store)
      await send(database.store, project, [visit(22, IP, FIREFOX)] as never)
      const [row] = await select(
        database.store,
        sql`SELECT user_id FROM users WHERE project_id = ${string(project.id)}`,
      )
      return row!['user_id']
    }
    expect(await ids()).not.toEqual(await ids())
  })

  test('have their address stored nowhere', async () => {
    const project = await newProject(database.store)
    await send(database.store, project, [
      visit(23, IP, FIREFOX),
      { ...visit(23, IP, FIREFOX), name: 7 },
    ] as never)
    const columns = await select<{ table: string; name: string }>(
      database.store,
      sql`
SELECT table, name FROM system.columns
WHERE database = currentDatabase() AND table NOT IN ('projects') AND default_kind != 'ALIAS'`,
    )
    expect(columns.length).toBeGreaterThan(60)
    for (const { table, name } of columns) {
      const hits = await select(
        database.store,
        sql`
SELECT count() AS n FROM ${identifier(table)}
WHERE position(toString(${identifier(name)}), ${string(IP)}) > 0`,
      )
      expect({ table, name, hits }).toEqual({ table, name, hits: [{ n: 0 }] })
    }
  })

  test('without an id are anonymous, unless the event says otherwise', () =>
    check(
      [
        [{ user_id: 'u' }, { anonymous: false }],
        [{ user_id: null }, { anonymous: true }],
        [{ user_id: '' }, { anonymous: true }],
        [{ user_id: 'v', anonymous: true }, { anonymous: true }],
        [{ user_id: null, anonymous: false }, { anonymous: false }],
        [{ user_id: 'w', anonymous: null }, { anonymous: false }],
      ],
      sql`anonymous`,
    ))
})
