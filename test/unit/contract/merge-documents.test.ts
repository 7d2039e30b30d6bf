/** Both contracts as one document: what both name is there once. */
import { expect, test } from '@jest/globals'
import { mergeDocuments } from '../../../src/contract/merge-documents.js'
import type { SpecDocument } from '../../../src/contract/spec.js'

const createDocument = (description: string, tags: readonly object[]): SpecDocument =>
  ({ info: { description }, tags, paths: {}, components: {} }) as unknown as SpecDocument

const Events = { name: 'Events', description: 'of the first' }
const OtherEvents = { name: 'Events', description: 'of the second' }
const Health = { name: 'Health' }

test.each<[string, readonly object[], readonly object[], readonly object[]]>([
  ['different', [Health], [Events], [Health, Events]],
  ['of the same name', [Health, Events], [OtherEvents], [Health, Events]],
])('tags that are %s', (_, first, second, merged) => {
  const document = mergeDocuments(createDocument('one', first), createDocument('other', second))
  expect(document).toMatchObject({
    info: { description: 'one\n\nother' },
    tags: merged,
  })
})
