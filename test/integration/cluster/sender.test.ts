/** The SQL of a sender's shard, and the loader: events of one user, also a derived one, have one sender. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql, string, time } from '../../../src/clickhouse/sql.js'
import { chooseShard, writeShardIndex, type Placement } from '../../../src/cluster/sender.js'
import { readFields } from '../../../src/ingest/import/shards/read-fields.js'
import { FIELDS_TYPE } from '../../../src/model/event-fields.js'
import { placeOn, SENDERS, WIDENED, WIDENED_CASES } from '../../support/cluster/senders.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { select } from '../../support/store/facts.js'
import { importLines, toLines } from '../../support/sources/sources.js'
import { newProject } from '../../support/world/world.js'

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

const ARRIVAL = new Date('2026-06-01T00:00:00Z')

const selectShards = async (
  lines: readonly string[],
  placement: Placement,
  receivedAt = ARRIVAL,
): Promise<readonly number[]> =>
  (
    await select<{ shard: number }>(
      database.store,
      sql`
SELECT ${writeShardIndex(
        {
          userId: sql`given.user_id`,
          ip: sql`given.ip`,
          userAgent: sql`given.user_agent`,
          timestamp: sql`given.timestamp`,
          receivedAt: sql`${time(receivedAt)}`,
        },
        placement,
      )} AS shard
FROM (
  SELECT JSONExtract(arrayJoin(JSONExtract(${string(JSON.stringify(lines))}, 'Array(String)')), ${string(FIELDS_TYPE)}) AS given
)`,
    )
  ).map(({ shard }) => shard)

test('the SQL agrees with the table', async () => {
  const lines = SENDERS.map(({ event }) => JSON.stringify(event))
  for (const width of [2, 3, 8, 1_000]) {
    expect(await selectShards(lines, placeOn(width))).toEqual(
      SENDERS.map(({ hash }) => hash % width),
    )
  }
})

test('the SQL agrees with the table of a project that was widened', async () => {
  for (const { event, receivedAt } of WIDENED_CASES) {
    const at = receivedAt === undefined ? ARRIVAL : new Date(receivedAt)
    const shard = chooseShard(event, WIDENED, at)
    const found = await selectShards([JSON.stringify(event)], WIDENED, at)
    expect({ event, at, found }).toEqual({ event, at, found: [shard] })
  }
})

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'
const AGENTS = [
  '',
  FIREFOX,
  `${FIREFOX} b`,
  ...[1_100, 1_200].map((length) => FIREFOX + 'é'.repeat(length)),
  ...['😀y', '😀'].map((end) => FIREFOX.padEnd(1_023, 'x') + end),
]
const IPS = ['', '203.0.113.9', '203.0.113.10', '::ffff:203.0.113.9']
const raw = String.raw

/** Lines in which the loader finds the same user although their texts differ, beside many others. */
const LINES = [
  ...IPS.flatMap((ip) => AGENTS.map((userAgent) => JSON.stringify({ ip, user_agent: userAgent }))),
  ...['a', 'é', 'e\u0301', '😀', ' a', `203.0.113.9 ${FIREFOX}`].map((id) =>
    JSON.stringify({ user_id: id, ip: IPS[1] }),
  ),
  '{"ip":null,"user_id":""}',
  raw`{"user_id":"a","user_id":"b"}`,
  raw`{"user_id":null,"user_id":"b"}`,
  raw`{"user_id":"","user_id":"b"}`,
  raw`{"user_id":"b","user_id":null}`,
  raw`{"user\u005fid":"\u00e9"}`,
  raw`{"user_id":"\ud83d\ude00"}`,
  '\ufeff{"user_id":"b"}',
  ' {"properties":{"user_id":"x"} , "user_id" : "b"}\r',
  raw`{"ip":"203.0.113.9","ip":"203.0.113.10","user_agent":null,"user_agent":"${FIREFOX}"}`,
]

const NEEDS = { project: false, timestamp: false }

test('events of one user have one sender', async () => {
  const { store } = database
  const { id } = await newProject(store)
  const rows = LINES.map((line, i) =>
    line.replace('{', `{"timestamp":"2026-01-31T10:00:00Z","name":"n${i}",`),
  )
  const { report } = await importLines(store, toLines(rows), { projectId: id })
  expect(report).toMatchObject({ received: LINES.length, events: LINES.length })
  const users = await select<{ user: number; names: readonly string[] }>(
    store,
    sql`SELECT user, groupArray(name) AS names FROM events WHERE project_id = ${string(id)} GROUP BY user`,
  )
  expect(users.length).toBeGreaterThan(20)
  const shards = rows.map((line) => {
    const bytes = Buffer.from(line)
    return chooseShard(readFields(bytes, 0, bytes.length, NEEDS)!, placeOn(1_000), ARRIVAL)
  })
  const ofUsers = users.map(({ names }) => [
    ...new Set(names.map((name) => shards[Number(name.slice(1))])),
  ])
  expect(ofUsers.filter((some) => some.length !== 1)).toEqual([])
  expect(await selectShards(rows, placeOn(1_000))).toEqual(shards)
})

test('lines that are not valid are rejected, so they have no sender', async () => {
  const { store } = database
  const { id } = await newProject(store)
  const broken = [
    raw`{"user_id":"\ud800"}`,
    raw`{"user_id":"a\ude00\ud83d"}`,
    '{"user_id":"a\\u0000"}',
  ]
  const rows = broken.map((line) => line.replace('{', '{"timestamp":"2026-01-31T10:00:00Z",'))
  const invalid = Buffer.concat([
    Buffer.from(toLines(rows)),
    Buffer.from('{"timestamp":"2026-01-31T10:00:00Z","user_id":"\u00ff"}', 'latin1'),
  ])
  async function* source(): AsyncGenerator<Buffer> {
    yield await Promise.resolve(invalid)
  }
  const { report, rejections } = await importLines(store, source(), { projectId: id })
  expect(report).toMatchObject({ received: 4, events: 0, rejected: 4 })
  expect(rejections.map(({ reason }) => reason)).toEqual([
    'is not valid JSON',
    'is not valid JSON',
    'must not contain the character NUL',
    'is not valid UTF-8',
  ])
})
