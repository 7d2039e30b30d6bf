/** What `tallyhouse doctor` makes of the shards of a cluster together. */
import { expect, test } from '@jest/globals'
import type { SyncPlan } from '../../../../src/cluster/plan-sync.js'
import {
  judgeClocks,
  judgeCopies,
  judgePlaces,
  judgeRelocations,
  judgeVersions,
} from '../../../../src/commands/operate/cluster-judgments.js'
import type { Finding } from '../../../../src/commands/operate/judgments.js'
import type { VersionMark } from '../../../../src/projects/versions.js'

const by = <Fact>(facts: Readonly<Record<string, Fact>>): ReadonlyMap<string, Fact> =>
  new Map(Object.entries(facts))

const plan = (fields: Partial<SyncPlan>): SyncPlan => ({
  copy: [],
  remove: [],
  raise: new Map(),
  ...fields,
})

const project = (id: string, ...shards: readonly string[]): VersionMark => ({
  id,
  version: 1,
  createdMs: 0,
  shards,
  isDeleting: false,
})

const CASES: readonly [Finding, Finding['verdict'], string][] = [
  [judgeVersions(by({ a: '26.7', b: '26.7' })), 'ok', 'all shards run ClickHouse 26.7'],
  [judgeVersions(by({ a: '26.7', b: '26.8' })), 'warn', 'a runs 26.7, b runs 26.8'],
  [judgeClocks(by({ a: 0 })), 'ok', 'the clocks of all shards agree'],
  [judgeClocks(by({ a: -400, b: 600 })), 'ok', 'the clocks of all shards agree'],
  [judgeClocks(by({ a: 1_500, b: 0, c: -700 })), 'warn', 'c is 2.2 seconds ahead of a'],
  [
    judgePlaces([project('x'), project('y', 'b', 'a')], ['a', 'b']),
    'ok',
    'every project lives on shards of the configuration',
  ],
  [
    judgePlaces([project('x', 'c'), project('y', 'd', 'a', 'c')], ['a', 'b']),
    'fail',
    'x lives on c, y lives on d and c, which is not configured',
  ],
  [judgeCopies(by({ b: plan({}) })), 'ok', 'every shard has the projects that live on it'],
  [
    judgeCopies(
      by({
        b: plan({ copy: ['x'], raise: new Map([['y', 3]]) }),
        c: plan({ remove: ['p1', 'p2', 'p3', 'p4', 'p5', 'p6'] }),
      }),
    ),
    'warn',
    'b lacks the current version of 2 projects; c has p1, p2, p3, p4, p5 and 1 more, which live elsewhere or nowhere',
  ],
  [judgeRelocations([]), 'ok', 'no project is being moved or widened'],
  [
    judgeRelocations([
      { projectId: 'x', shards: ['b'], legs: [{ source: 'a', target: 'b', base: 1, last: 2 }] },
      {
        projectId: 'y',
        shards: ['a', 'b'],
        legs: [{ source: 'a', target: 'b', base: 1, last: 2 }],
      },
    ]),
    'warn',
    'x is being moved from a to b, y is being widened to 2 shards: a, b',
  ],
]

test.each(CASES)('%j', (found, verdict, finding) => {
  expect(found).toEqual({ verdict, finding, advice: verdict === 'ok' ? null : expect.any(String) })
})
