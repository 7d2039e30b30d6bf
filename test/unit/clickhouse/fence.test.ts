/** Statements under a fence. */
import { expect, test } from '@jest/globals'
import { getMaxListeners } from 'node:events'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { fenceConnection } from '../../../src/clickhouse/connection-wrappers.js'

test('any number of statements may run at the same time without a warning of Node.js', () => {
  const { signal } = new AbortController()
  expect(getMaxListeners(signal)).toBe(10)
  fenceConnection({} as Connection, signal)
  expect(getMaxListeners(signal)).toBe(0)
})
