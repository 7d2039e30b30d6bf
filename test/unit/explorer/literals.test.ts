/** Values as literals: they are read back as they were, and nothing in them acts on a terminal. */
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { runInNewContext } from 'node:vm'
import { formatJson, formatTypeScript } from '../../../src/explorer/code/literals.js'

test.each<[string, unknown, string, string]>([
  [
    'a short body',
    { date_range: '30days', metrics: ['users'] },
    '{ "date_range": "30days", "metrics": ["users"] }',
    "{ date_range: '30days', metrics: ['users'] }",
  ],
  [
    'nothing',
    { filters: [], include: {} },
    '{ "filters": [], "include": {} }',
    '{ filters: [], include: {} }',
  ],
  ['other values', [1.5, true, null], '[1.5, true, null]', '[1.5, true, null]'],
  ['a name with a colon', { 'page:path': 1 }, '{ "page:path": 1 }', "{ 'page:path': 1 }"],
  ['a single quote', ["it's"], `["it's"]`, `["it's"]`],
  ['a double quote', ['a "b"'], '["a \\"b\\""]', `['a "b"']`],
  ['both', [`'"`], `["'\\""]`, `["'\\""]`],
  ['a backslash before a quote', ['\\"'], '["\\\\\\""]', `['\\\\"']`],
  ['a line', ['a\nb\t'], '["a\\nb\\t"]', `['a\\nb\\t']`],
  [
    'letters',
    ['Größe 東京 🎉 $HOME `id`'],
    '["Größe 東京 🎉 $HOME `id`"]',
    "['Größe 東京 🎉 $HOME `id`']",
  ],
  [
    'unseen characters',
    ['a\u007f\u009b\u202eb\u2028\u0000\u001b'],
    '["a\\u007f\\u009b\\u202eb\\u2028\\u0000\\u001b"]',
    `['a\\u007f\\u009b\\u202eb\\u2028\\u0000\\u001b']`,
  ],
  [
    'a member that is no prototype',
    JSON.parse('{ "__proto__": {} }'),
    '{ "__proto__": {} }',
    "{ ['__proto__']: {} }",
  ],
  ['members that are left out', { a: undefined, b: 1 }, '{ "b": 1 }', '{ b: 1 }'],
])('%s', (_, value, json, typeScript) => {
  expect([formatJson(value), formatTypeScript(value)]).toEqual([json, typeScript])
})

const LONG = {
  date_range: ['2026-01-01', '2026-01-31'],
  filters: [
    { type: 'page', path: { operator: 'eq', value: '/blog', caseSensitive: false } },
    { type: 'region', operator: 'oneOf', value: ['DE-BE', 'DE-HH'] },
  ],
}

test('a long value has a line for each member that fits into one', () => {
  expect(formatJson(LONG)).toBe(`{
  "date_range": ["2026-01-01", "2026-01-31"],
  "filters": [
    {
      "type": "page",
      "path": { "operator": "eq", "value": "/blog", "caseSensitive": false }
    },
    { "type": "region", "operator": "oneOf", "value": ["DE-BE", "DE-HH"] }
  ]
}`)
  expect(formatTypeScript(LONG)).toBe(`{
  date_range: ['2026-01-01', '2026-01-31'],
  filters: [
    {
      type: 'page',
      path: { operator: 'eq', value: '/blog', caseSensitive: false },
    },
    { type: 'region', operator: 'oneOf', value: ['DE-BE', 'DE-HH'] },
  ],
}`)
})

test('any value is read back as it was', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      const copy = JSON.parse(JSON.stringify(value)) as unknown
      expect(JSON.parse(formatJson(value))).toEqual(copy)
      const read: unknown = runInNewContext(`JSON.stringify([${formatTypeScript(value)}])`)
      expect(JSON.parse(read as string)).toEqual([copy])
    }),
  )
})
