/** The rules for the fields of a project. */
import { expect, test } from '@jest/globals'
import type { ProjectChanges } from '../../../src/projects/project.js'
import { validateFields } from '../../../src/projects/rules.js'
import { UserError } from '../../../src/lib/errors.js'

test.each<[ProjectChanges & { id?: string }, ProjectChanges & { id?: string }]>([
  [{}, {}],
  [{ id: 'A-z_09' }, { id: 'A-z_09' }],
  [{ name: '  Café ☕ ' }, { name: 'Café ☕' }],
  [{ domain: 'Shop.Example.COM' }, { domain: 'shop.example.com' }],
  [{ domain: 'bücher.example' }, { domain: 'xn--bcher-kva.example' }],
  [{ domain: 'localhost' }, { domain: 'localhost' }],
  [{ excludedIps: [] }, { excludedIps: [] }],
  [{ excludedIps: ['192.0.2.1', '192.0.2.1'] }, { excludedIps: ['192.0.2.1'] }],
  [{ excludedIps: ['2001:DB8:0:0:0::1'] }, { excludedIps: ['2001:db8::1'] }],
  ...(
    [
      ['192.0.2.0/24', '192.0.2.0/24'],
      ['192.0.2.77/24', '192.0.2.77/24'],
      ['0.0.0.0/0', '0.0.0.0/0'],
      ['192.0.2.1/32', '192.0.2.1/32'],
      ['192.0.2.0/08', '192.0.2.0/8'],
      ['2001:DB8:0::/32', '2001:db8::/32'],
      ['::/0', '::/0'],
      ['2001:db8::1/128', '2001:db8::1/128'],
      ['::FFFF:192.0.2.0/120', '::ffff:192.0.2.0/120'],
    ] as const
  ).map(([given, want]): [ProjectChanges, ProjectChanges] => [
    { excludedIps: [given, given] },
    { excludedIps: [want] },
  ]),
  [{ excludedCountries: ['DE', 'KP', 'DE'] }, { excludedCountries: ['DE', 'KP'] }],
  [{ retentionDays: null }, { retentionDays: null }],
  [{ retentionDays: 90 }, { retentionDays: 90 }],
  [{ keepDays: 90 }, { keepDays: 90 }],
  [{ timeZone: null }, { timeZone: null }],
  ...['Europe/Berlin', 'europe/berlin', 'Asia/Kolkata', 'UTC', 'Etc/GMT+5'].map(
    (timeZone): [ProjectChanges, ProjectChanges] => [{ timeZone }, { timeZone }],
  ),
  [{ hasPublicDashboard: false }, { hasPublicDashboard: false }],
  ...[
    ['https://Intranet.example/', 'https://intranet.example'],
    ['https://intranet.example:443', 'https://intranet.example'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ].map(([given = '', want = '']): [ProjectChanges, ProjectChanges] => [
    { embedOrigins: [given, given] },
    { embedOrigins: [want] },
  ]),
])('%j is stored as %j', (given, want) => {
  expect(validateFields(given)).toEqual(want)
})

test.each<[ProjectChanges & { id?: string }, RegExp]>([
  [{ id: '' }, /^the id "" is not/],
  [{ id: 'x'.repeat(65) }, /^the id "x+" is not/],
  [{ id: 'a b' }, /is not 1 to 64 characters/],
  [{ name: ' ' }, /^a name has 1 to 200/],
  [{ name: 'x'.repeat(201) }, /^a name has 1 to 200/],
  [{ name: 'a\u001b[31m' }, /printable/],
  [{ name: '\ud800' }, /printable/],
  [{ domain: '' }, /is not a host name/],
  [{ domain: 'https://example.com' }, /is not a host name/],
  [{ domain: 'example.com/shop' }, /is not a host name/],
  [{ domain: 'bücher.example/x' }, /is not a host name/],
  [{ domain: 'example.com:80' }, /is not a host name/],
  [{ domain: 'a..b' }, /is not a host name/],
  [{ domain: '-a.example' }, /is not a host name/],
  [{ domain: '%41.example' }, /is not a host name/],
  ...[
    '',
    '*',
    'intranet.example',
    'https://a.example/x',
    'https://u@a.example',
    'data:x',
    'https://a.example?x',
    "https://a.example; script-src 'unsafe-inline'",
  ].map((origin): [ProjectChanges, RegExp] => [
    { embedOrigins: [origin] },
    /is not the origin of a page, such as https:\/\/intranet.example/,
  ]),
  [{ excludedCountries: ['de'] }, /^"de" is not a country code/],
  [{ excludedCountries: ['DEU'] }, /is not a country code/],
  ...['', 'Mars/Olympus', '+05:30', ' UTC', 'Europe/Berlin\n', 'local'].map(
    (timeZone): [ProjectChanges, RegExp] => [
      { timeZone },
      /^the time zone ".*" is not the name of one that is known/,
    ],
  ),
  [{ retentionDays: 0 }, /whole number of days/],
  [{ retentionDays: 1.5 }, /whole number of days/],
  [{ retentionDays: 36_501 }, /^a retention is a whole number of days from 1 to 36500$/],
  [{ keepDays: 0 }, /^the time that data is kept is a whole number of days from 1 to 36500$/],
])('%j is refused', (given, message) => {
  expect(() => validateFields(given)).toThrow(message)
  expect(() => validateFields(given)).toThrow(UserError)
})

test.each([
  '192.0.2.256',
  '192.0.2',
  'fe80::1%eth0',
  'fe80::%eth0/64',
  '',
  ' 192.0.2.1',
  '192.0.2.1-9',
  '192.0.2.*',
  '/24',
  '192.0.2.0/',
  '192.0.2.0/33',
  '192.0.2.0/-1',
  '192.0.2.0/+1',
  '192.0.2.0/2 4',
  '192.0.2.0/1e1',
  '192.0.2.0/24/24',
  '192.0.2.0/255.255.255.0',
  '2001:db8::/129',
  '2001:db8::/0128',
  'localhost',
])('%j is neither an address nor a range', (text) => {
  const message = `${JSON.stringify(text)} is neither an IP address nor a range, such as 192.0.2.1 or 192.0.2.0/24`
  expect(() => validateFields({ excludedIps: ['192.0.2.9', text] })).toThrow(new UserError(message))
})
