/** The contracts as one document: what several name is there once. */
import { expect, test } from '@jest/globals'
import { mergeDocuments } from '../../../src/contract/merge-documents.js'
import type { Spec } from '../../../src/contract/spec.js'

const createSpec = (
  description: string,
  tags: readonly object[],
  schemas: Readonly<Record<string, object>> = {},
): Spec =>
  ({
    yaml: '',
    document: {
      info: { description },
      tags,
      paths: { [`/${description}`]: schemas },
      components: { schemas },
    },
  }) as unknown as Spec

const Events = { name: 'Events', description: 'of the first' }
const OtherEvents = { name: 'Events', description: 'of the second' }
const Health = { name: 'Health' }

test.each<[string, readonly object[], readonly object[], readonly object[]]>([
  ['different', [Health], [Events], [Health, Events]],
  ['of the same name', [Health, Events], [OtherEvents], [Health, Events]],
])('tags that are %s', (_, first, second, merged) => {
  const document = mergeDocuments({
    openapi: createSpec('one', first),
    collector: createSpec('other', second),
    management: createSpec('third', []),
  })
  expect(document).toMatchObject({
    info: { description: 'one\n\nother\n\nthird' },
    tags: merged,
  })
})

test('schemas that differ from those before have a prefix, and so have those that refer to them', () => {
  const refer = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const text = { type: 'string' }
  const [first, second] = [{ type: 'object' }, { type: 'integer' }]
  const { components, paths } = mergeDocuments({
    openapi: createSpec('one', [], { Same: text, Error: first, Body: refer('Error') }),
    collector: createSpec('two', [], { Same: text, Error: second, Body: refer('Error') }),
    management: createSpec('three', [], {
      Error: second,
      Body: refer('Error'),
      Own: refer('Body'),
    }),
  }) as unknown as { components: unknown; paths: unknown }
  expect(components).toEqual({
    schemas: {
      Same: text,
      Error: first,
      Body: refer('Error'),
      CollectorError: second,
      CollectorBody: refer('CollectorError'),
      ManagementError: second,
      ManagementBody: refer('ManagementError'),
      Own: refer('ManagementBody'),
    },
  })
  expect(paths).toMatchObject({ '/three': { Own: refer('ManagementBody') } })
})
