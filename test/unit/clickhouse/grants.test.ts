/** The rights that an account lacks, from what ClickHouse says that it has. */
import { expect, test } from '@jest/globals'
import { findMissingRights } from '../../../src/clickhouse/checks/grants.js'

test.each<{ why: string; granted: string[]; needed: string[]; missing: string[] }>([
  {
    why: 'all rights',
    granted: ['GRANT ALL ON *.* TO admin WITH GRANT OPTION'],
    needed: ['SELECT, INSERT ON stats.*', 'TABLE ENGINE ON Null'],
    missing: [],
  },
  {
    why: 'the same rights in another order',
    granted: ['GRANT INSERT, ALTER TABLE, SELECT ON stats.* TO writer'],
    needed: ['SELECT, INSERT ON stats.*', 'ALTER TABLE ON stats.*'],
    missing: [],
  },
  {
    why: 'a wider right',
    granted: ['GRANT CREATE ON stats.* TO writer'],
    needed: ['CREATE TABLE, DROP TABLE ON stats.*'],
    missing: ['DROP TABLE ON stats.*'],
  },
  {
    why: 'another database',
    granted: ['GRANT SELECT ON other.* TO reader'],
    needed: ['SELECT ON stats.projects', 'SELECT ON stats.events'],
    missing: ['SELECT ON stats.projects', 'SELECT ON stats.events'],
  },
  {
    why: 'databases whose names begin alike',
    granted: ['GRANT SELECT ON stat*.* TO reader'],
    needed: ['SELECT ON other.events'],
    missing: ['SELECT ON other.events'],
  },
  {
    why: 'columns',
    granted: ['GRANT SELECT(b, a), INSERT(a) ON stats.inbox TO reader'],
    needed: ['SELECT(a, b) ON stats.inbox', 'SELECT(a, c) ON stats.inbox', 'INSERT ON stats.inbox'],
    missing: ['SELECT ON stats.inbox', 'INSERT ON stats.inbox'],
  },
  {
    why: 'a quoted name',
    granted: ['GRANT TABLE ENGINE ON `Null` TO writer'],
    needed: ['TABLE ENGINE ON Null', 'TABLE ENGINE ON Memory'],
    missing: ['TABLE ENGINE ON Memory'],
  },
  { why: 'nothing', granted: [], needed: ['SELECT ON stats.*'], missing: ['SELECT ON stats.*'] },
])('$why', ({ granted, needed, missing }) => {
  expect(findMissingRights(granted, needed)).toEqual(missing)
})
