/** fillPage() inserts escaped values into pages, and requires all of them. */
import { expect, test } from '@jest/globals'
import { fillPage } from '../../../../src/http/site/assets.js'

test('a value replaces its placeholder in text and in attributes', () => {
  const html = '<p title="{{title}}">{{title}}, {{count}}</p>'
  expect(fillPage(html, { title: 'A', count: '2' })).toBe('<p title="A">A, 2</p>')
})

test('a value is escaped for text and for attributes', () => {
  expect(fillPage('<p title="{{x}}">', { x: '"><script>&amp;$&' })).toBe(
    '<p title="&quot;&gt;&lt;script&gt;&amp;amp;$&amp;">',
  )
})

test('placeholders in values are not replaced', () => {
  expect(fillPage('{{a}} {{b}}', { a: '{{b}}', b: '{{a}}' })).toBe('{{b}} {{a}}')
})

test('a missing value is an error', () => {
  expect(() => fillPage('{{token}}', {})).toThrow('{{token}}')
})
