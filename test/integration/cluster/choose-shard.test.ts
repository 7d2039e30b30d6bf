/** The SQL of a sender's shard, and the loader: events of one user, also a derived one, have one sender. */
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { sql, string, time } from '../../../src/clickhouse/sql.js'
import { chooseShard, writeShardIndex, type Placement } from '../../../src/cluster/choose-shard.js'
import { parseInstant } from '../../../src/contract/timestamps.js'
import { readFields } from '../../../src/ingest/import/shards/read-fields.js'
import { FIELDS_TYPE } from '../../../src/model/event-fields.js'
import { placeOn, SENDERS, WIDENED, WIDENED_CASES } from '../../support/cluster/senders.js'
import { withDatabase } from '../../support/store/database.js'
import { select } from '../../support/store/facts.js'
import { importLines, toLines } from '../../support/sources/sources.js'
import { newProject } from '../../support/world/world.js'

const database = withDatabase()

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

const twoDigits = (min: number, max: number) =>
  fc.integer({ min, max }).map((n) => String(n).padStart(2, '0'))

/** Timestamps of all forms, some of days that do not exist. */
const timestamps = fc
  .tuple(
    fc.oneof(
      { weight: 30, arbitrary: fc.constantFrom(1970, 2024, 2026) },
      fc.integer({ min: 1000, max: 9999 }),
    ),
    twoDigits(1, 12),
    fc.oneof({ weight: 3, arbitrary: twoDigits(1, 28) }, twoDigits(28, 31)),
    fc.constantFrom('00', '12', '23'),
    fc.constantFrom('00', '30', '59'),
    fc.constantFrom(
      '',
      ':00',
      ':59',
      ':59.9',
      ':59.99',
      ':59.999',
      ':59.9999',
      ':59.999999',
      ':59.999999999',
      ':00.0000001',
    ),
    fc.oneof(
      fc.constant('Z'),
      fc
        .tuple(
          fc.constantFrom('+', '-'),
          twoDigits(0, 23),
          fc.constantFrom(':', ''),
          fc.constantFrom('00', '30', '59'),
        )
        .map((parts) => parts.join('')),
    ),
  )
  .map(
    ([year, month, day, hour, minute, second, zone]) =>
      `${year}-${month}-${day}T${hour}:${minute}${second}${zone}`,
  )

test('a timestamp is the same moment as in the loader, or the loader rejects it', async () => {
  const { store } = database
  const { id } = await newProject(store)
  const texts = fc.sample(timestamps, { seed: 20_260_615, numRuns: 2_000 })
  const rows = texts.map((timestamp, i) =>
    JSON.stringify({ timestamp, name: `n${i}`, user_id: 'u' }),
  )
  const { rejections } = await importLines(store, toLines(rows), { projectId: id })
  const loaded = await select<{ n: number; at: number }>(
    store,
    sql`SELECT toUInt32(substring(name, 2)) AS n, toUnixTimestamp64Milli(timestamp) AS at FROM events WHERE project_id = ${string(id)} ORDER BY n`,
  )
  expect(loaded.length).toBeGreaterThan(1_000)
  expect(loaded.length + rejections.length).toBe(texts.length)
  expect(loaded).toEqual(loaded.map(({ n }) => ({ n, at: parseInstant(texts[n]!) })))
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
