/** What clients are told of the errors of ClickHouse. */
import { ClickHouseError } from '@clickhouse/client'
import { expect, test } from '@jest/globals'
import { toStoreError } from '../../../src/clickhouse/errors.js'

test.each([
  ['MEMORY_LIMIT_EXCEEDED', /more memory or rows than one query may use/],
  // Less data does not help: the statement is as long then.
  ['TOO_BIG_AST', /more parts than one statement may have\. Ask with fewer goals/],
  ['TOO_DEEP_AST', /more parts than one statement may have\. Ask with fewer goals/],
])('%s', (type, message) => {
  const cause = new ClickHouseError({ message: 'too much', code: '168', type })
  expect(toStoreError(cause)).toMatchObject({
    code: 'QUERY_TOO_EXPENSIVE',
    message: expect.stringMatching(message),
  })
})
