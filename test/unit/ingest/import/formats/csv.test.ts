/** CSV is converted to lines of NDJSON. */
import { describe, expect, test } from '@jest/globals'
import { readText, invalidLine } from './support.js'

/** Converts a CSV of two columns with these records. */
const read = async (records: string | Buffer, header = 'user_id,url\n') =>
  (await readText(Buffer.concat([Buffer.from(header), Buffer.from(records)]))).lines

describe('cells', () => {
  test.each([
    { what: 'plain', given: 'u,/a', want: ['{"user_id":"u","url":"/a"}'] },
    { what: 'in quotes', given: '"u","/a"', want: ['{"user_id":"u","url":"/a"}'] },
    { what: 'a comma', given: '"a,b",c', want: ['{"user_id":"a,b","url":"c"}'] },
    { what: 'doubled quotes', given: '"a""b",""""', want: ['{"user_id":"a\\"b","url":"\\""}'] },
    { what: 'line ends', given: '"a\nb","c\r\nd"', want: ['{"user_id":"a\\nb","url":"c\\r\\nd"}'] },
    { what: 'empty', given: ',x\n"",y', want: ['{"url":"x"}', '{"url":"y"}'] },
    { what: 'blanks', given: ' u , /a ', want: ['{"user_id":" u ","url":" /a "}'] },
    { what: 'digits', given: '042,1e3', want: ['{"user_id":"042","url":"1e3"}'] },
    { what: 'beyond ASCII', given: 'ü,"日本"', want: ['{"user_id":"ü","url":"日本"}'] },
    { what: 'a backslash', given: 'a\\,b', want: ['{"user_id":"a\\\\","url":"b"}'] },
    {
      what: 'both kinds of line ends',
      given: 'a,b\r\nc,d\ne,f\r\n',
      want: ['{"user_id":"a","url":"b"}', '{"user_id":"c","url":"d"}', '{"user_id":"e","url":"f"}'],
    },
  ])('$what', async ({ given, want }) => {
    expect(await read(given)).toEqual(want)
  })

  test.each([1, 2, 3, 5, 1_000])('chunks of %d bytes give the same lines', async (size) => {
    const text = '\ufeff"user_id",url\r\n"a\r\n""ü""",b\r\n\r\n"c","d"'
    expect((await readText(text, {}, size)).lines).toEqual([
      '{"user_id":"a\\r\\n\\"ü\\"","url":"b"}',
      '',
      '{"user_id":"c","url":"d"}',
    ])
  })

  test.each([
    { cell: 'true', want: '{"anonymous":true}' },
    { cell: 'FALSE', want: '{"anonymous":false}' },
    { cell: '1', want: '{"anonymous":true}' },
    { cell: '0', want: '{"anonymous":false}' },
    { cell: 'yes', want: '{"anonymous":"yes"}' },
    { cell: '""', want: '{}' },
  ])('anonymous: $cell', async ({ cell, want }) => {
    expect(await read(cell, 'anonymous\n')).toEqual([want])
  })

  test.each([
    { given: `"{""a"": 1}",,`, want: '{"properties":{"a": 1}}' },
    {
      given: `"{\n""a"": 12345678901234567890}",,`,
      want: '{"properties":{ "a": 12345678901234567890}}',
    },
    { given: `"{""a"": 1}",x,y`, want: '{"properties":{"a": 1,"plan":"x","a b":"y"}}' },
    { given: `{},x,`, want: '{"properties":{"plan":"x"}}' },
    { given: `,x,`, want: '{"properties":{"plan":"x"}}' },
    { given: `,,`, want: '{}' },
    { given: `[1],,`, want: '{"properties":"[1]"}' },
    { given: `nope,x,`, want: '{"properties":"nope"}' },
  ])('properties: $given', async ({ given, want }) => {
    expect(await read(given, 'properties,properties.plan,properties.a b\n')).toEqual([want])
  })
})

describe('records that cannot be read are invalid rows; the others are read', () => {
  const valid = ['{"user_id":"a","url":"b"}', '{"user_id":"c","url":"d"}'] as const

  test.each([
    { why: 'has 1 cells where the header has 2', row: 'x' },
    { why: 'has 3 cells where the header has 2', row: 'x,y,z' },
    { why: 'has a quote in the wrong place', row: 'x"y,z' },
    { why: 'has a quote in the wrong place', row: '"x"y,z' },
    { why: 'has a quote in the wrong place', row: '"x" ,z' },
  ])('$row: $why', async ({ why, row }) => {
    expect(await read(`a,b\n${row}\nc,d\n`)).toEqual([valid[0], invalidLine(why, row), valid[1]])
  })

  test('bytes that are not UTF-8', async () => {
    const bytes = Buffer.concat([
      Buffer.from('a,b\nx'),
      Buffer.from([0xff]),
      Buffer.from(',y\nc,d'),
    ])
    expect(await read(bytes)).toEqual([
      valid[0],
      invalidLine('is not valid UTF-8', 'x\ufffd,y'),
      valid[1],
    ])
  })

  test('a quote that is closed in a later record includes the records between', async () => {
    expect(await read('a,b\n1,"x\n2,"y"\nc,d\n')).toEqual([
      valid[0],
      invalidLine('has a quote in the wrong place', '1,"x 2,"y"'),
      valid[1],
    ])
  })

  test('a quote that is never closed includes the rest of the file', async () => {
    expect(await read('a,b\n1,"x\n2,y\n')).toEqual([
      valid[0],
      invalidLine('has a quote that is not closed', '1,"x 2,y '),
    ])
  })

  test('reading ends at a quote that is not closed within the size limit', async () => {
    const long = `a,b\n1,"${'x'.repeat(100_000)}`.padEnd(1_500_000, '\nx')
    await expect(readText(`user_id,url\n${long}`, {}, 65_536)).rejects.toThrow(
      'row 2: is longer than 1048576 bytes',
    )
  })
})

describe('the header', () => {
  test.each([
    {
      header: 'url,plan,tier',
      why: /^has columns that are not fields of an event: plan, tier; map them with --map/,
    },
    { header: 'url,user_id,url', why: /^has the column url twice$/ },
    { header: 'url,', why: /^has columns that are not fields of an event: \(no name\); map/ },
    {
      header: 'url,properties.',
      why: /^has columns that are not fields of an event: properties\.; map/,
    },
  ])('$header', async ({ header, why }) => {
    await expect(readText(`${header}\n1,2,3\n`)).rejects.toThrow(why)
  })

  test('may follow blank lines and have spaces around names', async () => {
    expect(await read('a,b\n', '\n  \nuser_id , "url"\n'.replace(' "', '"'))).toEqual([
      '{"user_id":"a","url":"b"}',
    ])
  })

  test('may be the only line', async () => {
    expect(await read('')).toEqual([])
  })
})
