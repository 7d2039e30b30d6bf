/** The channel of a session, by the table of the contract. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { connect, type Connection } from '../../../src/clickhouse/connection.js'
import { sql, statement, string } from '../../../src/clickhouse/sql.js'
import type { Channel } from '../../../src/contract/api.js'
import { listEnumValues, readSpec } from '../../../src/contract/spec.js'
import { CHANNELS, writeChannel } from '../../../src/model/channels.js'
import { getTestEndpoint } from '../../support/engine/engine.js'

let engine: Connection
beforeAll(() => {
  engine = connect({ ...getTestEndpoint(), database: 'system' }, 'admin')
})
afterAll(() => engine.close())

type Source = readonly [type: string, source: string, medium: string, referrer: string]

async function findChannels(sources: readonly Source[]): Promise<readonly string[]> {
  const column = (n: string) => sql`source[toUInt8(${string(n)})]`
  const { rows } = await engine.query<{ channel: string }>(
    statement(sql`
SELECT ${writeChannel((column) => column)} AS channel
FROM (
  SELECT ${column('1')} AS referrer_type, ${column('2')} AS utm_source, ${column('3')} AS utm_medium, ${column('4')} AS referrer
  FROM (SELECT JSONExtract(arrayJoin(JSONExtractArrayRaw(${string(JSON.stringify(sources))})), 'Array(String)') AS source)
)`),
  )
  return rows.map(({ channel }) => channel)
}

const CASES: readonly (readonly [...Source, Channel])[] = [
  ['direct', '', '', '', 'Direct'],
  ['direct', '(direct)', '(none)', '', 'Direct'],
  ['search', '', '', 'Google', 'Organic Search'],
  ['search', 'google', 'organic', '', 'Organic Search'],
  ['social', '', '', 'Mastodon', 'Organic Social'],
  ['email', 'newsletter', 'email', '', 'Email'],
  ['llm', 'chatgpt.com', '', '', 'AI Assistants'],
  // A click id alone makes an ad of a visit: the referrer is its source.
  ['paid', '', '', 'Google', 'Paid Search'],
  ['paid', '', '', 'Yahoo!', 'Paid Search'],
  ['paid', '', '', 'Facebook', 'Paid Social'],
  ['paid', 'google', 'cpc', 'Facebook', 'Paid Search'],
  ['paid', ' Bing.com ', 'CPC', '', 'Paid Search'],
  ['paid', 'adwords', '', '', 'Paid Search'],
  ['paid', 'googleads', '', '', 'Paid Search'],
  ['paid', 'facebookads', 'cpc', '', 'Paid Social'],
  ['paid', 'LinkedIn-Ads', 'cpc', '', 'Paid Social'],
  ['paid', 't.co', 'cpc', '', 'Paid Social'],
  ['paid', 'agency', 'paid-social', '', 'Paid Social'],
  ['paid', 'agency', 'Paid Search', '', 'Paid Search'],
  ['paid', 'agency', 'sem', '', 'Paid Search'],
  ['paid', 'agency', 'semantic', '', 'Other'],
  ['paid', 'agency', 'display', 'Google', 'Other'],
  ['paid', '', '', '', 'Other'],
  ['unknown', '', '', 'news.example.org', 'Referral'],
  ['unknown', 'partner', '', 'news.example.org', 'Referral'],
  ['unknown', 'partner', 'Referral', '', 'Referral'],
  ['unknown', 'partner', 'link', '', 'Referral'],
  ['unknown', 'partner', 'banner-7', 'news.example.org', 'Other'],
  ['unknown', 'partner', '', '', 'Other'],
  ['unknown', '', '', ' ', 'Other'],
  // Servers may send a type of their own.
  ['mine', 'google', 'cpc', 'Google', 'Other'],
  ['Direct', '', '', '', 'Other'],
  ['', '', '', '', 'Other'],
]

test('the first row that holds decides', async () => {
  const found = await findChannels(
    CASES.map(([type, ...rest]) => [type, rest[0], rest[1], rest[2]]),
  )
  expect(CASES.map((one, i) => [...one.slice(0, 4), found[i]])).toEqual(CASES)
})

test('every channel of the contract has a row', () => {
  const { document } = readSpec('openapi')
  expect([...new Set(CHANNELS.map(({ channel }) => channel))].sort()).toEqual(
    [...listEnumValues(document, 'Channel')].sort(),
  )
})
