/** Files with foreign names: mapped columns and keys. */
import { describe, expect, test } from '@jest/globals'
import { bindColumns } from '../../../../../src/ingest/import/formats/mapping.js'
import { readText, invalidLine } from './support.js'

const mapping = (...pairs: readonly string[]): ReadonlyMap<string, string> =>
  new Map(pairs.map((pair) => pair.split('=') as [string, string]))
const TIMES = mapping('timestamp=t')

describe('columns', () => {
  const taken = (columns: readonly string[], mapped: ReadonlyMap<string, string>) =>
    bindColumns(columns, mapped).map(
      ({ index, target }) => `${index}:${target.kind}:${target.name}`,
    )

  test.each<[string, string[], string[], string[]]>([
    ['ours', ['url', 'properties.a'], [], ['0:field:url', '1:property:a']],
    [
      'one is mapped, others are left out',
      ['uuid', 'url', 'x'],
      ['user_id=uuid'],
      ['0:field:user_id', '1:field:url'],
    ],
    ['one gives two', ['u'], ['url=u', 'properties.u=u'], ['0:field:url', '0:property:u']],
    [
      'a field comes from the mapped column alone',
      ['user_id', 'id'],
      ['user_id=id'],
      ['1:field:user_id'],
    ],
    [
      'a column named as an event field is mapped too',
      ['path', 'url'],
      ['url=path'],
      ['0:field:url'],
    ],
  ])('%s', (_, columns, pairs, want) => {
    expect(taken(columns, mapping(...pairs))).toEqual(want)
  })

  test('a mapped column that is missing is an error', () => {
    expect(() => taken(['a', 'b'], mapping('url=u', 'user_id=a'))).toThrow(
      'has no column u, which --map names; it has a, b',
    )
  })
})

describe('numeric timestamps are Unix times', () => {
  const cases = [
    ['0', '1970-01-01T00:00:00.000Z'],
    ['1359737010', '2013-02-01T16:43:30.000Z'],
    ['1359737010.25', '2013-02-01T16:43:30.250Z'],
    ['1359737010123', '2013-02-01T16:43:30.123Z'],
    ['100000000000', '5138-11-16T09:46:40.000Z'],
    ['100000000001', '1973-03-03T09:46:40.001Z'],
    ['-1', '1969-12-31T23:59:59.000Z'],
  ] as const

  test.each(cases)('NDJSON %s', async (number, want) => {
    const text = `{"t":${number}}\n{"t":"${number}"}\n`
    expect((await readText(text, { mapping: TIMES })).lines).toEqual(
      [want, want].map((timestamp) => JSON.stringify({ timestamp })),
    )
  })
  test.each(cases)('CSV %s', async (number, want) => {
    expect((await readText(`t\n${number}\n`, { mapping: TIMES })).lines).toEqual([
      JSON.stringify({ timestamp: want }),
    ])
  })
  test('but not in files with names of event fields', async () => {
    expect((await readText('timestamp\n1359737010\n')).lines).toEqual([
      '{"timestamp":"1359737010"}',
    ])
  })
})

test.each<[string, string, string]>([
  ['text', '{"u":"a"}', '{"url":"a"}'],
  ['numbers of texts', '{"u":42}', '{"url":"42"}'],
  ['numbers that are not exact', '{"u":12345678901234567890}', '{"url":12345678901234567000}'],
  ['what is no text', '{"u":[1]}', '{"url":[1]}'],
  ['null', '{"u":null,"p":null}', '{}'],
  ['the empty text', '{"u":""}', '{"url":""}'],
  ['properties', '{"p":1.5,"properties":{"a":1}}', '{"properties":{"a":1,"p":1.5}}'],
  [
    'a referrer',
    '{"u":"a","r":"https://x.example/"}',
    '{"url":"a","referrer_url":"https://x.example/"}',
  ],
  ['the word direct', '{"u":"a","r":"direct"}', '{"url":"a"}'],
  ['a dash', '{"u":"a","r":"-"}', '{"url":"a"}'],
  ['names of ours', '{"u":"a","country":"DE","x":1}', '{"url":"a","country":"DE"}'],
  ['booleans', '{"u":"a","anonymous":1}', '{"url":"a","anonymous":true}'],
  ['none of the mapped keys', '{"country":"DE"}', ''],
  ['what is no object', '[1]', '[1]'],
  ['what is no JSON', '{"u":', '{"u":'],
  ['keys of objects', '{"__proto__":{"u":1},"constructor":2}', ''],
])('a line of NDJSON: %s', async (_, line, want) => {
  const options = { mapping: mapping('url=u', 'referrer_url=r', 'properties.p=p') } as const
  const { lines, skipped } = await readText(`{"u":"first"}\n${line}\n`, options)
  expect(lines).toEqual(['{"url":"first"}', want])
  expect(skipped).toBe(want === '' ? 1 : 0)
})

test('lines that are not UTF-8 are invalid rows', async () => {
  const bytes = Buffer.concat([
    Buffer.from('{"u":"a"}\n{"u":"'),
    Buffer.from([0xff]),
    Buffer.from('"}\n{"u":"ü"}'),
  ])
  expect((await readText(bytes, { mapping: mapping('url=u') })).lines).toEqual([
    '{"url":"a"}',
    invalidLine('is not valid UTF-8', '{"u":"\ufffd"}'),
    '{"url":"ü"}',
  ])
})

test('the identity differs when the same bytes are read differently', async () => {
  const identity = async (...pairs: readonly string[]) =>
    (await readText('t,u\n1,2\n', { mapping: mapping(...pairs) })).identity
  const one = await identity('timestamp=t', 'url=u')
  expect(await identity('url=u', 'timestamp=t')).toBe(one)
  expect(await identity('url=u')).not.toBe(one)
})
