/** parseAddress() parses addresses as proxies write them, parseLanguage() the languages of browsers. */
import { expect, test } from '@jest/globals'
import { parseAddress, parseLanguage } from '../../../../src/http/collect/read-client-info.js'

test.each([
  ['203.0.113.1', '203.0.113.1'],
  ['203.0.113.1:80', '203.0.113.1'],
  ['2001:db8::1', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:db8::1]:80', '2001:db8::1'],
  ['::ffff:203.0.113.1', '203.0.113.1'],
  ['::FFFF:203.0.113.1', '203.0.113.1'],
  ['::ffff:cb00:7101', '::ffff:cb00:7101'],
  ['fe80::1%eth0', 'fe80::1'],
  ['', undefined],
  ['unknown', undefined],
  ['1.2.3', undefined],
  ['1.2.3.4.5:1', undefined],
  ['[1.2.3.4', undefined],
  ['shop.example', undefined],
])('%j: %j', (text, want) => {
  expect(parseAddress(text)).toBe(want)
})

test.each([
  ['pt-BR,pt;q=0.9,en;q=0.8', 'pt-BR'],
  ['de', 'de'],
  ['DE-at;q=0.7, en', 'de-AT'],
  ['zh-hant-tw', 'zh-Hant-TW'],
  ['es-419,es', 'es-419'],
  [' fr , en', 'fr'],
  ['*', undefined],
  ['', undefined],
  [',en', undefined],
  ['de-', undefined],
  ['i-klingon', undefined],
  ["en' OR 1", undefined],
  ['x'.repeat(9_000), undefined],
])('the first language of %j: %j', (header, want) => {
  expect(parseLanguage(header)).toBe(want)
})
