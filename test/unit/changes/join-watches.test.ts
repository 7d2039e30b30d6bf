/** The version of data on several shards: it is known if all are, and the same only if all are. */
import { expect, test } from '@jest/globals'
import { joinWatches } from '../../../src/changes/join-watches.js'
import type { VersionWatch } from '../../../src/changes/watch-changes.js'

/** A watch of a shard. The version is the given text; undefined while the data changes. */
const watch = (state: { version: string | undefined }): VersionWatch => ({
  readVersion: () => Promise.resolve(state.version),
  getLastVersion: () => state.version,
  isCurrent: (_projectId, version) => version === state.version,
})

test('the watch of the only store is used as it is', () => {
  const only = watch({ version: '1' })
  expect(joinWatches([], [only])).toBe(only)
})

test('a version holds until one shard has another, and there is none while one shard changes', async () => {
  const states = [{ version: '1' as string | undefined }, { version: '1' as string | undefined }]
  const joined = joinWatches(['a', 'b'], states.map(watch))
  const version = (await joined.readVersion('p'))!
  expect(joined.getLastVersion('p')).toBe(version)
  expect(joined.isCurrent('p', version)).toBe(true)
  for (const state of states) {
    state.version = undefined
    expect([await joined.readVersion('p'), joined.getLastVersion('p')]).toEqual([
      undefined,
      undefined,
    ])
    expect(joined.isCurrent('p', version)).toBe(false)
    state.version = '2'
    expect(await joined.readVersion('p')).not.toBe(version)
    expect(joined.isCurrent('p', version)).toBe(false)
    state.version = '1'
    expect(joined.isCurrent('p', version)).toBe(true)
  }
})

test('a project that has moved has other data, even with the same versions', async () => {
  const [one, other] = [watch({ version: ' ' }), watch({ version: ' ' })]
  const versions = await Promise.all([
    joinWatches(['a'], [one]).readVersion('p'),
    joinWatches(['b'], [other]).readVersion('p'),
    joinWatches(['a', 'b'], [one, other]).readVersion('p'),
    joinWatches(['b', 'a'], [other, one]).readVersion('p'),
  ])
  expect(new Set(versions).size).toBe(4)
  expect(joinWatches(['b'], [other]).isCurrent('p', versions[0]!)).toBe(false)
})
