/** What changes of the state are to the browser's history. */
import { expect, test } from '@jest/globals'
import {
  addFilter,
  changeDetails,
  closeDetails,
  openDetails,
  set,
  type Change,
} from '../../../src/explorer/state/changes.js'
import { chooseStep, type Step } from '../../../src/explorer/state/address.js'
import { DEFAULT_STATE, type ExplorerState } from '../../../src/explorer/state/state.js'

const OPEN = openDetails('country', 'users')(DEFAULT_STATE)
const FILTER = addFilter({ field: 'country', operator: 'is', values: ['DE'] })

test.each<[string, ExplorerState, Change, Step, Step?]>([
  ['nothing new', DEFAULT_STATE, set({ period: '30days' }), 'stay'],
  ['another period', DEFAULT_STATE, set({ period: '7days' }), 'push'],
  ['an opened dialog', DEFAULT_STATE, openDetails('country', 'users'), 'push'],
  ['a search in it', OPEN, changeDetails({ search: 'ger' }), 'replace'],
  ['its next page', OPEN, changeDetails({ page: 1 }), 'replace'],
  ['a filter of its rows', OPEN, FILTER, 'push'],
  ['another period below a dialog that has no rows', OPEN, set({ period: '7days' }), 'push'],
  ['the closed dialog', OPEN, closeDetails, 'back', 'replace'],
  ['a dialog that is closed twice', DEFAULT_STATE, closeDetails, 'stay'],
])('%s', (_, before, change, step, stepOfLink = step) => {
  const next = change(before)
  expect([chooseStep(before, next, true), chooseStep(before, next, false)]).toEqual([
    step,
    stepOfLink,
  ])
})
