/** Random request bodies with one event, as JSON text: mostly valid, and most of them unusual in one place. */
import fc from 'fast-check'
import { FIELDS } from '../../../src/model/event-fields.js'

const json = (value: unknown): string => JSON.stringify(value)

/** JSON strings that a parser, the store or a log could get wrong. */
const oddText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }).map(json),
  fc.string({ unit: 'grapheme', maxLength: 200 }).map(json),
  fc.constantFrom(
    'null',
    '""',
    '" "',
    '"\\u0000"',
    '"a\\\\u0000"',
    '"a\\\\\\u0000"',
    '"\\ud83d"',
    '"\\ud83d\\ude00"',
    '"\\ude00\\ud83d"',
    '"\\u0041\\/\\b\\f\\n\\r\\t\\"\\\\"',
    '"\\u2028\\u0085\\ufeff\\uffff"',
    '"\\u001f\\u0015\\u007f"',
    '"\u007f\u0080\uffff\u{10ffff}"',
    '"🇩🇪👩‍👩‍👧"',
    json('x'.repeat(5_000)),
    json('{"a":1}'),
    json("'; DROP TABLE x --"),
    '1',
    'true',
    '[]',
    '{}',
  ),
)

const digits = (n: number): string => String(n).padStart(2, '0')
const integer = (min: number, max: number): fc.Arbitrary<number> => fc.integer({ min, max })

const timestamp: fc.Arbitrary<string> = fc
  .record({
    year: fc.oneof({ weight: 6, arbitrary: integer(1970, 2026) }, integer(0, 9_999)),
    month: fc.oneof({ weight: 9, arbitrary: integer(1, 12) }, integer(0, 13)),
    day: fc.oneof({ weight: 9, arbitrary: integer(1, 31) }, integer(0, 32)),
    hour: fc.oneof({ weight: 9, arbitrary: integer(0, 23) }, integer(0, 25)),
    minute: fc.oneof({ weight: 9, arbitrary: integer(0, 59) }, integer(0, 61)),
    second: fc.constantFrom(
      '',
      ':00',
      ':59',
      ':60',
      ':07.1',
      ':07.123',
      ':59.999999999',
      ':59.9995',
    ),
    zone: fc.oneof(
      fc.constantFrom('Z', 'Z', '+00:00', '-00:00', '+0530', '-1145', '+23:59', '-2359', '+14', ''),
      fc
        .tuple(fc.constantFrom('+', '-'), integer(0, 24), integer(0, 60))
        .map(([sign, hours, minutes]) => `${sign}${digits(hours)}:${digits(minutes)}`),
    ),
  })
  .map(({ year, month, day, hour, minute, second, zone }) =>
    json(
      `${String(year).padStart(4, '0')}-${digits(month)}-${digits(day)}T${digits(hour)}:${digits(minute)}${second}${zone}`,
    ),
  )

const url: fc.Arbitrary<string> = fc.oneof(
  fc.webUrl({ withFragments: true, withQueryParameters: true }).map(json),
  fc
    .tuple(
      fc.constantFrom('https', 'HTTP', 'a+b.c-1', '1a', ''),
      fc.constantFrom('://', ':/', '//', ':////'),
      fc.constantFrom('', 'user@', 'a:b@c@', '@', '@@'),
      fc.constantFrom('h', 'ü.de', '[::1]:80', '', 'a b', '\n', '\u2028'),
      fc.constantFrom('', '/', '/p\nq', '/ä?', '?a=b', '/?utm_source=%ff%00', '/\\'),
      fc.constantFrom('', '#', '#a\nb', '#a\u2028b', '#a#b?c', '#\r'),
    )
    .map((parts) => json(parts.join(''))),
)

const ip: fc.Arbitrary<string> = fc.oneof(
  fc.ipV4().map(json),
  fc.ipV4Extended().map(json),
  fc.ipV6().map(json),
  fc.constantFrom(
    '"::"',
    '"::ffff:1.2.3.4"',
    '"::1.2.3.4"',
    '"64:ff9b::1.2.3.4"',
    '"1:2:3:4:5:6:1.2.3.4"',
    '"1:2:3:4:5:6:7::"',
    '"::2:3:4:5:6:7:8"',
    '"0:0:0:0:0:0:0:0001"',
    '"fe80::1%1"',
    '"1.2.3.4 "',
    '"1.2.3.4\\n"',
    '"0x7f.1"',
    '"1.2.3"',
    '"::ffff:1.2.3.400"',
    '"ABCD:EF01:2345:6789:ABCD:EF01:2345:6789"',
  ),
)

const number: fc.Arbitrary<string> = fc.oneof(
  fc.double().map((n) => json(n)),
  fc.maxSafeInteger().map(json),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.constantFrom(
    '-0',
    '-0.0',
    '1E5',
    '1e-400',
    '5e-324',
    '2.2250738585072011e-308',
    '9007199254740991',
    '9007199254740992',
    '9007199254740993',
    '9223372036854775808',
    '18446744073709551615',
    '18446744073709551616',
    '100000000000000000000',
    '1e21',
    '1e308',
    '1e400',
    '-1e400',
    '0.1234567890123456789012345678901234567890',
    '1234567890123456789012345678901234567890.5',
  ),
)

const value: fc.Arbitrary<string> = fc.oneof(
  oddText,
  number,
  fc.json(),
  integer(1, 150).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  integer(1, 150).map((depth) => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)),
  integer(950, 1_100).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
)

const propertyName: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).map(json) },
  fc.constantFrom('""', '"a"', '"__proto__"', '"\\u0000"', '"\\ud800"', json('x'.repeat(128))),
  integer(126, 130).map((length) => json('😀'.repeat(length))),
)

const properties: fc.Arbitrary<string> = fc
  .oneof(
    { weight: 6, arbitrary: fc.array(fc.tuple(propertyName, value), { maxLength: 4 }) },
    integer(62, 66).map((count) =>
      Array.from({ length: count }, (_, n) => [`"p${n}"`, '1'] as [string, string]),
    ),
  )
  .map((pairs) => `{${pairs.map((pair) => pair.join(':')).join(',')}}`)

const ODD: Readonly<Record<string, fc.Arbitrary<string>>> = {
  timestamp,
  url,
  ip,
  properties,
  name: fc.oneof(
    oddText,
    integer(126, 130).map((length) => json('😀'.repeat(length))),
  ),
  country: fc.constantFrom(
    '"DE"',
    '"de"',
    '"D"',
    '"DEU"',
    '"D\\n"',
    '"DE\\n"',
    '""',
    'null',
    '"ÄÖ"',
  ),
  anonymous: fc.constantFrom('true', 'false', 'null', '""', '"true"', '0', '[]'),
}

const NAMES = [...FIELDS.keys()].filter((name) => name !== 'project')

const member = (name: string): fc.Arbitrary<string> =>
  fc
    .oneof({ weight: 5, arbitrary: ODD[name] ?? oddText }, oddText)
    .map((text) => `${json(name)}:${text}`)

const unknown = fc.constantFrom('"project":"x"', '"Name":"x"', '"":1', '"constructor":1')

/** The text of one event. A field may occur twice. */
export const eventBody: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 30, arbitrary: fc.constantFrom(...NAMES, 'properties', 'timestamp').chain(member) },
      unknown,
    ),
    { maxLength: 4 },
  )
  .map((members) => `{${members.join(',')}}`)
