/** The shortcuts of the page. */
import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { packagePath } from '../../../src/lib/package-path.js'
import {
  areShortcutsOn,
  findShortcut,
  keepShortcutsOn,
  SHORTCUTS,
  type Press,
  type SettingStorage,
} from '../../../src/explorer/state/shortcuts.js'
import { DEFAULT_STATE, type ExplorerState } from '../../../src/explorer/state/state.js'

const press = (key: string, members: Partial<Press> = {}): Press => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  repeat: false,
  defaultPrevented: false,
  ...members,
})

const STATE: ExplorerState = {
  ...DEFAULT_STATE,
  filters: [{ field: 'country', operator: 'is', values: ['DE'] }],
  join: 'or',
}

test.each<[string, Partial<ExplorerState>]>([
  ['r', { period: 'now' }],
  ['h', { period: '24hrs' }],
  ['d', { period: 'today' }],
  ['e', { period: 'yesterday' }],
  ['w', { period: '7days' }],
  ['t', { period: '30days' }],
  ['n', { period: '90days' }],
  ['m', { period: 'mtd' }],
  ['y', { period: 'ytd' }],
  ['l', { period: '12months' }],
  ['a', { period: 'all' }],
  ['x', { comparison: 'off' }],
])('%s changes the state by %j', (key, members) => {
  const action = findShortcut(press(key))?.action
  const state = action?.kind === 'change' ? action.change(STATE) : undefined
  expect(state).toEqual({ ...STATE, ...members })
})

test.each([
  ['c', { kind: 'focus', field: 'from' }],
  ['/', { kind: 'focus', field: 'search' }],
  ['?', { kind: 'list' }],
])('%s is %j', (key, action) => {
  expect(findShortcut(press(key))?.action).toEqual(action)
})

test('the comparison is turned on again', () => {
  const action = findShortcut(press('x'))?.action
  const change = action?.kind === 'change' ? action.change : (state: ExplorerState) => state
  expect(change(change(STATE))).toEqual(STATE)
})

describe('a key', () => {
  test.each<[string, Press, string | undefined]>([
    ['with the lock of capitals', press('D'), 'd'],
    ['with Shift', press('D', { shiftKey: true }), undefined],
    ['with Shift, as some keyboards need it for a sign', press('/', { shiftKey: true }), '/'],
    ['with Control', press('r', { ctrlKey: true }), undefined],
    ['with Command', press('r', { metaKey: true }), undefined],
    ['with Alt', press('d', { altKey: true }), undefined],
    ['that is held down', press('d', { repeat: true }), undefined],
    ['that has done something else', press('d', { defaultPrevented: true }), undefined],
    ['without a meaning', press('q'), undefined],
    ['with a longer name', press('End'), undefined],
  ])('%s', (_, given, want) => {
    expect(findShortcut(given)?.key).toBe(want)
  })
})

test('each key has one meaning, and the docs list them all', () => {
  expect(new Set(SHORTCUTS.map(({ key }) => key)).size).toBe(SHORTCUTS.length)
  const docs = readFileSync(packagePath('docs/explorer.md'), 'utf8')
  const [, table = ''] = docs.split(/\n\| shortcut .*\n.*\n/)
  const rows = (table.split('\n\n')[0] ?? '').split('\n')
  expect(rows.map((row) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')))).toEqual(
    SHORTCUTS.map(({ key, name }) => ['', key.length === 1 ? key.toUpperCase() : key, name, '']),
  )
})

test('the browser keeps only that they are off', () => {
  const kept = new Map<string, string>()
  const storage: SettingStorage = {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => void kept.set(name, value),
    removeItem: (name) => void kept.delete(name),
  }
  expect(areShortcutsOn(storage)).toBe(true)
  keepShortcutsOn(storage, false)
  expect([areShortcutsOn(storage), kept.size]).toEqual([false, 1])
  keepShortcutsOn(storage, true)
  expect([areShortcutsOn(storage), kept.size]).toEqual([true, 0])
})
