/** Numbers, dates and values as people read them. */
import { expect, test } from '@jest/globals'
import { nameBucket, nameTick, type BucketSize } from '../../../src/explorer/format/dates.js'
import {
  formatAmount,
  formatChange,
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  formatPercentTick,
  formatShare,
} from '../../../src/explorer/format/numbers.js'
import { flagOf, listForms, nameValue } from '../../../src/explorer/format/values.js'

test.each([
  [formatCount(0), '0'],
  [formatCount(99_999), '99,999'],
  [formatCount(112_744), '112.7K'],
  [formatCount(1_250_000), '1.3M'],
  [formatAmount(59.9), '59.90'],
  [formatAmount(-0.5), '-0.50'],
  [formatAmount(120), '120'],
  [formatAmount(1234.56), '1,235'],
  [formatAmount(112_743.6), '112.7K'],
  [formatPercent(48.14), '48.1%'],
  [formatPercent(48), '48.0%'],
  [formatPercent(0), '0.0%'],
  [formatPercent(0.02), '<0.1%'],
  [formatPercent(99.98), '>99.9%'],
  [formatPercent(100), '100.0%'],
  [formatNumber(0.05234), '0.0523'],
  [formatNumber(-59.96), '-60'],
  [formatNumber(2676.4), '2,676'],
  [formatPercentTick(40), '40%'],
  [formatPercentTick(0.1 + 0.2), '0.3%'],
  [formatDuration(0.4), '0s'],
  [formatDuration(59.6), '1m 00s'],
  [formatDuration(125), '2m 05s'],
  [formatDuration(3661), '1h 01m'],
  [formatShare(1, 3), '33.3%'],
  [formatShare(1, 0), ''],
  [formatChange(2.78), '+2.8%'],
  [formatChange(-0.2, ' points'), '−0.2 points'],
  [formatChange(0), '0.0%'],
  [formatChange(2821.4), '+2,821%'],
  [formatChange(-0.01), '0.0%'],
])('%s', (text, want) => {
  expect(text).toBe(want)
})

const LABEL = '2026-03-29T14:00:00+02:00'

test.each<[BucketSize, name: string, tick: string]>([
  ['15minutes', '29 Mar, 14:00', '14:00'],
  ['hour', '29 Mar, 14:00', '14:00'],
  ['day', 'Sun 29 Mar 2026', '29 Mar'],
  ['week', 'Week of 29 Mar 2026', '29 Mar'],
  ['month', 'Mar 2026', 'Mar 2026'],
  ['quarter', 'Q1 2026', 'Mar 2026'],
  ['year', '2026', '2026'],
])('a bucket of one %s is %s, on an axis %s', (size, name, tick) => {
  expect([nameBucket(LABEL, size), nameTick(LABEL, size)]).toEqual([name, tick])
})

test.each([
  ['country', 'DE', 'Germany'],
  ['country', '', 'Unknown'],
  ['country', '<b>', '<b>'],
  ['language', 'pt-BR', 'Brazilian Portuguese'],
  ['referrer', '', 'Direct'],
  ['utm_source', '', '(none)'],
  ['page:path', '/a', '/a'],
  ['page:path', '/%E3%83%9A%E3%83%BC%E3%82%B8', '/ページ'],
  ['page:exit', '/100%', '/100%'],
  ['page:entry', '/a%2Fb', '/a%2Fb'],
  ['utm_term', '%C3%BC', '%C3%BC'],
])('the %s %j is called %s', (field, value, name) => {
  expect(nameValue(field, value)).toBe(name)
})

test.each([
  ['page:path', 'ページ', ['ページ', '%E3%83%9A%E3%83%BC%E3%82%B8']],
  ['page:path', '/a', ['/a']],
  ['page:path', '\uD83D', ['\uD83D']],
  ['utm_term', 'ü', ['ü']],
])('values of %s may have %j in the forms %j', (field, text, forms) => {
  expect(listForms(field, text)).toEqual(forms)
})

test.each([
  ['country', 'DE', '🇩🇪'],
  ['country', '', ''],
  ['country', 'de', ''],
  ['language', 'DE', ''],
])('the flag of the %s %j is %j', (field, value, flag) => {
  expect(flagOf(field, value)).toBe(flag)
})
