/** Values get into pages escaped, and none is forgotten. */
import { expect, test } from '@jest/globals'
import { fillPage } from '../../../../src/http/site/assets.js'

test('a value stands for its placeholder, in texts and in attributes', () => {
  const html = '<p title="{{title}}">{{title}}, {{count}}</p>'
  expect(fillPage(html, { title: 'A', count: '2' })).toBe('<p title="A">A, 2</p>')
})

test('a value cannot leave its text or its attribute', () => {
  expect(fillPage('<p title="{{x}}">', { x: '"><script>&amp;$&' })).toBe(
    '<p title="&quot;&gt;&lt;script&gt;&amp;amp;$&amp;">',
  )
})

test('a value is not searched for placeholders', () => {
  expect(fillPage('{{a}} {{b}}', { a: '{{b}}', b: '{{a}}' })).toBe('{{b}} {{a}}')
})

test('a page without one of its values is an error', () => {
  expect(() => fillPage('{{token}}', {})).toThrow('{{token}}')
})
