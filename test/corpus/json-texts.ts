/** Bodies that are no JSON, JSON at its limits, and JSON that is no object. */
import { events, invalid, label, query, type Draft } from './case.js'

const NO_JSON: readonly string[] = [
  ...[
    '{',
    '}',
    '[',
    ']',
    '{]',
    '[}',
    '"',
    '{"',
    '{"a',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '[1',
    '[1,',
  ],
  ...['[1,]', '[,1]', '[1,,2]', '[,]', '{,}', '{"a":1,}', '{,"a":1}', '{"a":1,,"b":2}', '{"a" 1}'],
  ...[
    '{"a":1 "b":2}',
    '{a:1}',
    "{'a':1}",
    '{1:1}',
    '{null:1}',
    '{"a"::1}',
    '{"a":}',
    '{:1}',
    '{"a";1}',
  ],
  ...[
    '[1 2]',
    '["a" "b"]',
    '[1:2]',
    '["a":1]',
    '[1}',
    '{"a":[}',
    '[{]',
    '1 2',
    '{} {}',
    '{}x',
    '[]]',
    '{}}',
  ],
  ...[
    'nul',
    'nulll',
    'Null',
    'NULL',
    'tru',
    'True',
    'fals',
    'FALSE',
    'undefined',
    'NaN',
    '-NaN',
    'Infinity',
  ],
  ...[
    '+1',
    '01',
    '-01',
    '1.',
    '.1',
    '-.1',
    '1.e1',
    '1e',
    '1e+',
    '1E-',
    '0x1',
    '0b1',
    '0o1',
    '1_000',
    '1,000',
  ],
  ...[
    '--1',
    '1-',
    '-',
    '+',
    '1e1.5',
    '١',
    '１',
    '²',
    '0e',
    '-Infinity',
    '1/2',
    '2+2',
    '(1)',
    '`a`',
  ],
  ...[
    '"a',
    'a"',
    "'a'",
    '"\\x41"',
    '"\\u12"',
    '"\\u12G4"',
    '"\\u{41}"',
    '"\\a"',
    '"\\',
    '"\\"',
    '"\\u"',
  ],
  ...[
    '"a\nb"',
    '"a\tb"',
    '"a\rb"',
    '"a\u0000b"',
    '"\u001f"',
    '"\u0000',
    '// x\n{}',
    '/* x */{}',
    '{}//',
    '#{}',
  ],
  ...[
    '<a/>',
    '%7B%7D',
    'a=1&b=2',
    '---\na: 1',
    '{"a":1}\u0000',
    '\u0000{}',
    '\u00a0{}',
    '\u2028{}',
    '\u000b{}',
  ],
  ...['{"a":"\ud800'],
]

/** Bytes that are not UTF-8: alone, overlong, beyond Unicode, a surrogate, cut short. */
const NO_UTF8: readonly (readonly number[])[] = [
  [0x80],
  [0xff],
  [0xc0, 0x80],
  [0xc1, 0xbf],
  [0xe0, 0x80, 0x80],
  [0xed, 0xa0, 0x80],
  [0xf0, 0x80, 0x80, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xc3],
  [0xe2, 0x82],
  [0xf0, 0x9f, 0x98],
]
/** The same text in other encodings. */
const OTHER_ENCODINGS = {
  'UTF-16LE': Buffer.from('{"date_range":"today"}', 'utf16le'),
  'UTF-16BE': Buffer.from('{"date_range":"today"}', 'utf16le').swap16(),
  'UTF-16LE with BOM': Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('{}', 'utf16le')]),
  'UTF-32LE': Buffer.from('{\0\0\0}\0\0\0', 'latin1'),
}

/** JSON, but no object. */
const NO_OBJECT = [
  'null',
  'true',
  'false',
  '0',
  '-0',
  '1',
  '1.5',
  '1e3',
  '""',
  '"a"',
  '"today"',
] as const

const NUMBERS: readonly (readonly [text: string, isLimit: boolean])[] = [
  ...['1', '1.0', '1e0', '10e-1', '100', '1000', '1E2', '1e+2'].map(
    (text) => [text, true] as const,
  ),
  ...[
    '-0',
    '0',
    '-1',
    '1.5',
    '1001',
    '1e3.0',
    '1e4',
    '1e400',
    '-1e400',
    '1e-400',
    '9007199254740993',
  ].map((text) => [text, false] as const),
  ...[
    '123456789012345678901234567890',
    '0.1e1e1',
    `1${'0'.repeat(400)}`,
    `0.${'1'.repeat(400)}`,
  ].map((text) => [text, false] as const),
]

const SPACES = [' ', '\t', '\n', '\r\n', ' '.repeat(10_000)]
const DEPTHS = [10, 100, 1_000, 10_000, 30_000]

const withText = (bytes: readonly number[]): Buffer =>
  Buffer.concat([Buffer.from('{"date_range":"today","x":"'), Buffer.from(bytes), Buffer.from('"}')])

const nested = (depth: number): readonly (readonly [string, string])[] => [
  ['arrays', '['.repeat(depth) + ']'.repeat(depth)],
  ['open arrays', '['.repeat(depth)],
  ['open objects', '{"a":'.repeat(Math.min(depth, 12_000))],
  [
    'arrays in filters',
    `{"date_range":"today","filters":${'['.repeat(depth)}${']'.repeat(depth)}}`,
  ],
]
const nestedProperty = (depth: number): string =>
  `{"user_id":"u","properties":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`

const both = (name: string, body: string | Buffer): readonly Draft[] => [
  query(name, body, invalid()),
  events(name, body, invalid()),
]

export const JSON_CASES: readonly Draft[] = [
  ...NO_JSON.flatMap((text) => both(`no JSON: ${label(text)}`, text)),
  ...NO_JSON.slice(0, 60).map((text) =>
    query(
      `no JSON in a filter: ${label(text)}`,
      `{"date_range":"today","filters":[${text},1]}`,
      invalid(),
    ),
  ),
  ...NO_UTF8.flatMap((bytes) => both(`no UTF-8: ${bytes.join(' ')}`, withText(bytes))),
  ...Object.entries(OTHER_ENCODINGS).flatMap(([name, bytes]) => both(name, bytes)),
  ...NO_OBJECT.flatMap((text) => both(`no object: ${text}`, text)),
  ...DEPTHS.flatMap((depth) =>
    nested(depth).flatMap(([what, text]) => both(`${depth} ${what}`, text)),
  ),
  ...DEPTHS.map((depth) =>
    events(
      `${depth} arrays in a property`,
      nestedProperty(depth),
      depth < 100 ? 'ok' : invalid('properties.a'),
    ),
  ),
  ...NUMBERS.map(([text, isLimit]) =>
    query(
      `limit ${label(text)}`,
      `{"date_range":"today","limit":${text}}`,
      isLimit ? 'ok' : invalid(),
    ),
  ),
  ...SPACES.flatMap((space) => [
    query(`space ${label(space)}`, `${space}{"date_range"${space}:"today"}${space}`, 'ok'),
    events(`space ${label(space)}`, `${space}{"user_id"${space}:"u"}${space}`, 'ok'),
  ]),
  query('the last of two equal names counts', '{"date_range":"x","date_range":"today"}', 'ok'),
  query(
    'the last of two equal names is wrong',
    '{"date_range":"today","date_range":"x"}',
    invalid('date_range'),
  ),
  query('escaped names', '{"date\\u005frange":"today"}', 'ok'),
]
