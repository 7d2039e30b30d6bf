/** The definition of the rollups: a store records its hash, and rebuilds all rollups if that of the build differs. */
import { expect, test } from '@jest/globals'
import { hashDefinitions } from '../../../src/rollups/materialized-views.js'

test('the views are those of existing stores', () => {
  // A new dimension changes the hash, and so every store rebuilds its rollups at the next start: enter the new hash then.
  expect(hashDefinitions()).toBe('e0d9dbc1afccad041d4160d6dc5a2745c85a2c2be12016815b4e81b180ae02a4')
})
