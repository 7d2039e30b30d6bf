/** The page about channels has the rules of the contract, and its links have the channels that it says. */
import { expect, test } from '@jest/globals'
import { readSpec } from '../../../src/contract/spec.js'
import { readDoc, readTables } from './served-pages.js'

interface Schemas {
  readonly components: { readonly schemas: Readonly<Record<string, { description: string }>> }
}

test('the rules are those of the contract', () => {
  const { components } = readSpec('openapi').document as unknown as Schemas
  const rules = readTables(components.schemas['Channel']!.description)
  expect(rules.length).toBeGreaterThan(9)
  expect(readTables(readDoc('channels')).slice(0, rules.length)).toEqual(rules)
})
