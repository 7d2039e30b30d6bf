/** What the browser remembers of the last visit. */
import { expect, test } from '@jest/globals'
import { recall, remember } from '../../../src/explorer/state/memory.js'
import { DEFAULT_STATE, type ExplorerState } from '../../../src/explorer/state/state.js'

function createStorage() {
  const kept = new Map<string, string>()
  return {
    kept,
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
    removeItem: (name: string) => void kept.delete(name),
  }
}

const CHOSEN: readonly (readonly [chosen: Partial<ExplorerState>, recalled: string])[] = [
  [{ metric: 'visits' }, ''],
  [{ period: '7days' }, 'period=7days'],
  [{ zone: 'Asia/Tokyo' }, 'period=7days&zone=Asia%2FTokyo'],
  [
    { filters: [{ field: 'country', operator: 'is', values: ['DE'] }] },
    'period=7days&zone=Asia%2FTokyo',
  ],
  [{ zone: undefined, period: '30days' }, ''],
  [{ period: 'mtd' }, 'period=mtd'],
]

test('the last preset and zone are recalled where the address says nothing, and nothing else', () => {
  const storage = createStorage()
  let state: ExplorerState = DEFAULT_STATE
  for (const [chosen, recalled] of CHOSEN) {
    const next = { ...state, ...chosen }
    remember(storage, state, next)
    state = next
    expect(recall(storage, '')).toBe(recalled)
    expect(recall(storage, 'metric=events')).toBe('metric=events')
  }
  expect([...storage.kept.keys()]).toEqual(['tallyhouse-view'])
})
