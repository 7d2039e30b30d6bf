/** Which package has the embedded engine on a machine, and what is said where none has. */
import { expect, test } from '@jest/globals'
import path from 'node:path'
import { findLibrary } from '../../../../src/clickhouse/embedded/engine-package.js'

const resolve = (name: string): string => path.join('/node_modules', name, 'index.js')

test.each([
  ['linux', 'x64', '@chdb/lib-linux-x64-gnu'],
  ['linux', 'arm64', '@chdb/lib-linux-arm64-gnu'],
  ['darwin', 'arm64', '@chdb/lib-darwin-arm64'],
  ['darwin', 'x64', '@chdb/lib-darwin-x64'],
])('%s on %s', (platform, arch, name) => {
  expect(findLibrary({ platform, arch, resolve })).toBe(`/node_modules/${name}/libchdb.so`)
})

const CURE =
  'set CLICKHOUSE_URL to a ClickHouse server, or run docker compose up, which starts a server and the service'

test.each([
  ['win32', 'x64'],
  ['linux', 'riscv64'],
])('%s on %s has no engine', (platform, arch) => {
  expect(() => findLibrary({ platform, arch, resolve })).toThrow(
    `there is no embedded ClickHouse here: it does not exist for ${platform} on ${arch}; ${CURE}`,
  )
})

test('a package that is not installed is named', () => {
  const fail = (name: string): never => {
    throw new Error(`Cannot find module '${name}'`)
  }
  expect(() => findLibrary({ platform: 'linux', arch: 'arm64', resolve: fail })).toThrow(
    `there is no embedded ClickHouse here: the package @chdb/lib-linux-arm64-gnu is not installed; ${CURE}`,
  )
})
