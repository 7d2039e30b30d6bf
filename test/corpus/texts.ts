/** Texts that parsers, SQL and JavaScript may take for something else, in every place that accepts a text. */
import { events, invalid, label, query, type Draft } from './case.js'

const VALID_TEXTS = [
  ...[
    "'",
    '"',
    '`',
    '\\',
    "\\'",
    "''",
    '%',
    '_',
    '%_\\',
    '\\%',
    '*',
    '?',
    '.*',
    '^$',
    '[a-z]',
    '(',
  ],
  ...[
    '{p0:String}',
    '{a:Identifier}',
    '--',
    '-- ',
    '/*',
    '*/',
    ';',
    '; DROP TABLE events',
    "' OR '1'='1",
  ],
  ...[
    "') OR 1=1 --",
    'SETTINGS readonly=0',
    'FORMAT Null',
    'INTO OUTFILE',
    'UNION ALL SELECT 1',
    '@@version',
  ],
  ...[
    'NULL',
    'null',
    '\\N',
    'true',
    '0',
    '-1',
    '1e999',
    '0x41',
    'NaN',
    '$1',
    ':1',
    '?1',
    '${x}',
    '{{x}}',
  ],
  ...[
    '\t',
    '\n',
    '\r\n',
    '\u0001',
    '\u001f',
    '\u007f',
    '\u0085',
    '\u00a0',
    '\u2028',
    '\u2029',
    '\ufeff',
    '\ufffd',
  ],
  ...[
    'é',
    'e\u0301',
    'ﬁ',
    'ß',
    'İ',
    'ı',
    'ǆ',
    '你好',
    'שלום',
    '\u202eabc',
    '\u200d',
    '👩‍👩‍👧',
    '🇩🇪',
    '\u{10ffff}',
  ],
  ...[
    '<script>',
    '&lt;',
    '%00',
    '%2e%2e',
    '../../etc/passwd',
    'file:///etc/passwd',
    'http://127.0.0.1/',
  ],
  ...['x'.repeat(1_024), 'é'.repeat(1_024), '\u{1f600}'.repeat(512)],
]
const INVALID_TEXTS = [
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udc00',
  'a\ud800b',
  '\udc00\ud800',
  'x'.repeat(1_025),
]
const PROTOTYPE_NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'then',
  'valueOf',
]

const range = { date_range: '30days' }
const filter = (given: object): object => ({ ...range, filters: [given] })
/** The places of a query that take any text of up to 1,024 characters. */
const PLACES: Readonly<Record<string, (text: string) => object>> = {
  path: (value) => filter({ type: 'page', path: { value, operator: 'contains' } }),
  hash: (value) => filter({ type: 'page', hash: { value, operator: 'endsWith' } }),
  browser: (value) => filter({ type: 'browser', value: ['a', value], operator: 'oneOf' }),
  city: (value) => filter({ type: 'location', city: { value: [value], operator: 'noneOf' } }),
  referrer: (value) => filter({ type: 'referrer', value, operator: 'startsWith' }),
  property: (value) =>
    filter({ type: 'event', properties: [{ property: 'p', value, operator: 'notContains' }] }),
}
const isShort = (text: string): boolean => text.length <= 128

const PLACE_CASES = Object.entries(PLACES).flatMap(([place, build]) => [
  ...VALID_TEXTS.map((text) => query(`${place} ${label(text)}`, build(text), 'ok')),
  ...INVALID_TEXTS.map((text) => query(`${place} ${label(text)}`, build(text), invalid())),
])
const PROPERTY_CASES = VALID_TEXTS.filter(isShort).flatMap((text) => [
  query(`group by property ${label(text)}`, { ...range, group_by: [`event:prop:${text}`] }, 'ok'),
  query(
    `property ${label(text)}`,
    filter({ type: 'event', properties: [{ property: text, value: 'a', operator: 'eq' }] }),
    'ok',
  ),
])

const PROTOTYPE_CASES = PROTOTYPE_NAMES.flatMap((name) => {
  const quoted = JSON.stringify(name)
  const raw = (rest: string): string => `{"date_range":"30days",${rest}}`
  return [
    query(`${name} as a member`, raw(`${quoted}:{"limit":1}`), invalid(name)),
    query(`${name} as a preset`, `{"date_range":${quoted}}`, invalid('date_range')),
    query(`${name} as a metric`, raw(`"metrics":[${quoted}]`), invalid()),
    query(`${name} as a group`, raw(`"group_by":[${quoted}]`), invalid()),
    query(`${name} as a field to order by`, raw(`"order_by":[[${quoted},"asc"]]`), invalid()),
    query(`${name} as a direction`, raw(`"order_by":[["users",${quoted}]]`), invalid()),
    query(`${name} as the type of a filter`, raw(`"filters":[{"type":${quoted}}]`), invalid()),
    query(`${name} in a filter`, raw(`"filters":[{"type":"page",${quoted}:{}}]`), invalid()),
    query(
      `${name} as an operator`,
      raw(`"filters":[{"type":"referrer","value":"a","operator":${quoted}}]`),
      invalid(),
    ),
    query(`${name} as a property`, raw(`"group_by":["event:prop:${name}"]`), 'ok'),
    events(`${name} as a member`, `{"user_id":"u",${quoted}:1}`, invalid(name)),
    events(`${name} as a property`, `{"user_id":"u","properties":{${quoted}:"a"}}`, 'ok'),
    events(`${name} as the name`, `{"user_id":"u","name":${quoted}}`, 'ok'),
  ]
})

const EVENT_PLACES = ['name', 'path', 'user_id', 'utm_source', 'city'] as const
const EVENT_CASES = EVENT_PLACES.flatMap((place) => [
  ...VALID_TEXTS.filter(isShort).map((text) =>
    events(`${place} ${label(text)}`, { user_id: 'u', [place]: text }, 'ok'),
  ),
  ...INVALID_TEXTS.slice(0, 6).map((text) =>
    events(`${place} ${label(text)}`, { user_id: 'u', [place]: text }, invalid(place)),
  ),
])

export const TEXT_CASES: readonly Draft[] = [
  ...PLACE_CASES,
  ...PROPERTY_CASES,
  ...PROTOTYPE_CASES,
  ...EVENT_CASES,
]
