/** The columns that the statements of a migration write again. */
import { expect, test } from '@jest/globals'
import { listChanges } from '../../../src/clickhouse/migrations/rewrite-estimate.js'

test.each<[string, string, readonly unknown[] | undefined]>([
  ['a column that is computed', 'ALTER TABLE t\n    MATERIALIZE COLUMN day', [{ column: 'day' }]],
  [
    'a type, and a codec',
    "ALTER TABLE t\n  MODIFY COLUMN a LowCardinality(String),\n  MODIFY COLUMN b DateTime64(3, 'UTC') CODEC(T64, LZ4)\n  SETTINGS alter_sync = 0",
    [
      { column: 'a', type: 'LowCardinality(String)' },
      { column: 'b', type: "DateTime64(3, 'UTC') CODEC(T64, LZ4)" },
    ],
  ],
  [
    'values that are written as they are',
    'ALTER TABLE t MATERIALIZE INDEX i, UPDATE a = a, b = b WHERE true',
    [{ column: 'a' }, { column: 'b' }],
  ],
  ['a column that is only declared', 'ALTER TABLE t\n ADD COLUMN day Date', undefined],
  ['another statement', 'INSERT INTO t SELECT 1', undefined],
])('%s', (_what, statement, want) => {
  expect(listChanges([statement]).get('t')).toEqual(want)
})
