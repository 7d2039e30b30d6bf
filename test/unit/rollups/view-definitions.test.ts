/** The definition of the rollups: a store keeps its hash, and rebuilds everything when a build has another. */
import { expect, test } from '@jest/globals'
import { hashDefinitions } from '../../../src/rollups/materialized-views.js'

test('the views are those that stores were built with', () => {
  expect(hashDefinitions()).toBe('e0d9dbc1afccad041d4160d6dc5a2745c85a2c2be12016815b4e81b180ae02a4')
})
