/** The configuration files that the embedded engine reads at its start. */
import { expect, test } from '@jest/globals'
import { buildConfigXml } from '../../../../src/clickhouse/embedded/configuration.js'
import { computeLimits } from '../../../../src/clickhouse/embedded/limits.js'
import { buildUsersXml } from '../../../../src/clickhouse/embedded/users.js'
import type { Endpoint } from '../../../../src/clickhouse/endpoint.js'

const GIB = 1024 ** 3

const endpoint: Endpoint = {
  url: 'http://127.0.0.1:10000',
  database: 'tallyhouse',
  accounts: {
    admin: { username: 'admin', password: 'of-the-admin' },
    writer: { username: 'writer', password: 'of-the-writer' },
    reader: { username: 'reader', password: 'of-the-reader' },
  },
}

test.each([
  { memory: 64 * GIB, serverMemory: 32 * GIB, queryMemory: 8 * GIB },
  { memory: 8 * GIB, serverMemory: 4 * GIB, queryMemory: GIB },
  { memory: GIB, serverMemory: GIB, queryMemory: GIB / 4 },
])('with $memory bytes of memory, the engine may use $serverMemory', ({ memory, ...limits }) => {
  expect(computeLimits(memory)).toEqual(limits)
})

test('the folder is escaped', () => {
  const text = buildConfigXml('/data/<a> & b', computeLimits(8 * GIB))
  expect(text).toContain('<users_config>/data/&#60;a&#62; &#38; b/users.xml</users_config>')
})

test('settings with unsuitable defaults are set', () => {
  const text = buildConfigXml('/data', computeLimits(8 * GIB))
  expect(text).toContain('<log-level>error</log-level>')
  expect(text).toContain('<console>0</console>')
  expect(text).toContain(`<max_server_memory_usage>${4 * GIB}</max_server_memory_usage>`)
  expect(text).toContain('<max_concurrent_queries>100</max_concurrent_queries>')
  expect(text).toMatch(/<background_merges_mutations_concurrency_ratio>16</)
})

test('users.xml has passwords as hashes only', () => {
  const text = buildUsersXml(endpoint, computeLimits(8 * GIB))
  expect(text).not.toMatch(/of-the-/)
  expect(text.match(/<password_sha256_hex>[0-9a-f]{64}</g)).toHaveLength(3)
})

test('the account without a password has one session, and only the right to start listening', () => {
  const text = buildUsersXml(endpoint, computeLimits(8 * GIB))
  const [, locked] = /<default>\s*<no_password\/>(.*?)<\/default>/s.exec(text) ?? []
  expect(locked).toContain('<profile>boot</profile>')
  expect(locked?.match(/GRANT [^<]*/g)).toEqual(['GRANT SYSTEM LISTEN ON *.*'])
  expect(text).toContain('<boot><max_sessions_for_user>1</max_sessions_for_user></boot>')
  expect(text.match(/<no_password\/>/g)).toHaveLength(1)
})

test('every limit of the reader has a lower bound too, or cannot be changed', () => {
  const text = buildUsersXml(endpoint, computeLimits(8 * GIB))
  const [, constraints = ''] = /<constraints>(.*?)<\/constraints>/s.exec(text) ?? []
  for (const [, , bounds] of constraints.matchAll(/<(max_\w+)>(.*?)<\/\1>/g)) {
    expect(bounds).toMatch(/^(<readonly\/>|<min>[\d.]+<\/min><max>\d+<\/max>)$/)
  }
  expect(constraints).toContain(`<max_memory_usage><min>1</min><max>${GIB}</max>`)
})
