/** planSync(): what a shard needs, from the versions of projects at home and there. */
import { expect, test } from '@jest/globals'
import { planSync, type SyncPlan } from '../../../src/cluster/plan-sync.js'
import type { VersionMark } from '../../../src/projects/versions.js'

const mark = (fields: Partial<VersionMark> = {}): VersionMark => ({
  id: 'shop',
  version: 3,
  createdMs: 1,
  shards: ['b'],
  isDeleting: false,
  ...fields,
})

interface Want extends Partial<Omit<SyncPlan, 'raise'>> {
  readonly raise?: Readonly<Record<string, number>>
}

const CASES: readonly [
  what: string,
  home: readonly VersionMark[],
  copies: readonly VersionMark[],
  want: Want,
][] = [
  ['nothing', [], [], {}],
  ['an equal copy', [mark()], [mark()], {}],
  ['a missing copy', [mark()], [], { copy: ['shop'] }],
  ['an older copy', [mark()], [mark({ version: 2 })], { copy: ['shop'] }],
  ['a later copy', [mark()], [mark({ version: 5 })], { raise: { shop: 5 } }],
  ['a project of the home', [mark({ shards: [] })], [], {}],
  ['a project of the home, once here', [mark({ shards: [] })], [mark()], { remove: ['shop'] }],
  ['a project of another shard', [mark({ shards: ['a', 'c'] })], [], {}],
  ['a project that moved away', [mark({ shards: ['c'] })], [mark()], { remove: ['shop'] }],
  ['a project across shards', [mark({ shards: ['a', 'b'] })], [], { copy: ['shop'] }],
  ['a copy of no project', [], [mark()], { remove: ['shop'] }],
  [
    'a copy of an earlier project with the id',
    [mark({ createdMs: 2, version: 1 })],
    [mark()],
    { copy: ['shop'], remove: ['shop'] },
  ],
  [
    'a deletion that the copy lacks',
    [mark({ isDeleting: true, version: 4 })],
    [mark()],
    { copy: ['shop'] },
  ],
  ['a deletion that has removed the copy', [mark({ isDeleting: true })], [], {}],
  [
    'several',
    [mark({ id: 'a' }), mark({ id: 'b' }), mark({ id: 'c' })],
    [mark({ id: 'b', version: 1 }), mark({ id: 'c' }), mark({ id: 'd' })],
    { copy: ['a', 'b'], remove: ['d'] },
  ],
]

test.each(CASES)('%s', (_what, home, copies, { copy = [], remove = [], raise = {} }) => {
  expect(planSync(home, 'b', copies)).toEqual({
    copy,
    remove,
    raise: new Map(Object.entries(raise)),
  })
})
