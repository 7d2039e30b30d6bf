/** The fields of a line that decide where its event goes. */
import { expect, test } from '@jest/globals'
import { readFields } from '../../../../src/ingest/import/shards/read-fields.js'

/** Reads a line that lies between others. */
function read(line: string, needsAll = true): object | undefined {
  const before = '{"user_id":"before"}\n'
  const bytes = Buffer.from(`${before}${line}\n{"user_id":"after","ip":"after","project":"after"}`)
  return readFields(bytes, before.length, before.length + Buffer.byteLength(line), {
    project: needsAll,
    timestamp: needsAll,
  })
}

const raw = String.raw

test.each<[string, string, object | undefined]>([
  [
    'all fields',
    raw`{"project":"p","user_agent":"a","timestamp":"t","ip":"i","x":"y"}`,
    { project: 'p', user_agent: 'a', timestamp: 't', ip: 'i' },
  ],
  ['white space', ' \t{ "ip" : "i" , "project"\t:\r"p" } \r', { ip: 'i', project: 'p' }],
  ['a byte order mark', '\ufeff{"ip":"i"}', { ip: 'i' }],
  [
    'values of other types',
    raw`{"a":1.5e3,"b":true,"c":null,"d":[1,"]}",{"ip":"x"}],"e":{"user_id":"x","f":{}},"ip":"i"}`,
    { ip: 'i' },
  ],
  ['a Unix time', raw`{"timestamp": 1793527200 ,"ip":5}`, { timestamp: '1793527200' }],
  ['empty lists and objects', raw`{"a":[],"b":{},"ip":"i"}`, { ip: 'i' }],
  ['quotes and brackets in strings', raw`{"a":"\"}{,\\","\"ip\"":"x","ip":"i"}`, { ip: 'i' }],
  ['escapes in a name', raw`{"user\u005fid":"u","i\"p":"x"}`, { user_id: 'u' }],
  ['escapes in a value', raw`{"user_id":"\u00e9\"\\\ud83d\ude00\/"}`, { user_id: 'é"\\😀/' }],
  ['UTF-8', '{"user_id":"é漢😀"}', { user_id: 'é漢😀' }],
  [
    'names that begin alike',
    raw`{"user_idx":"x","user_i":"x","USER_ID":"x","":"x","ip":"i"}`,
    { ip: 'i' },
  ],
  [
    'the first of several values',
    raw`{"ip":"i","ip":"x","user_id":"","user_id":"x"}`,
    { ip: 'i', user_id: '' },
  ],
  ['null before a value', raw`{"user_id":null,"user_id":"u","user_id":"x"}`, { user_id: 'u' }],
  ['null after a value', raw`{"user_id":"u","user_id":null}`, { user_id: 'u' }],
  ['only nulls', raw`{"user_id":null,"ip":null}`, {}],
  ['no fields', '{}', {}],
  ['a list', '["user_id","x"]', undefined],
  ['a text', '"x"', undefined],
  ['nothing', '', undefined],
  ['a marked row', '\u0015reason\u001f{"ip":"x"}', undefined],
])('%s', (_what, line, want) => {
  expect(read(line)).toEqual(want)
})

test('a line is read until it is known where its event goes', () => {
  const line = raw`{"timestamp":"t","ip":"i","user_id":"u","user_agent":"a","project":"p","country":"c"}`
  expect(read(line, false)).toEqual({ ip: 'i', user_id: 'u' })
  expect(read(line, true)).toEqual({
    timestamp: 't',
    ip: 'i',
    user_id: 'u',
    user_agent: 'a',
    project: 'p',
  })
})

test('any beginning of a line can be read', () => {
  const line = raw`{"a":[{"b":"\"c"},2],"user_id":"\u00e9d","ip":null,"project":"p"}`
  for (let length = 0; length < line.length; length += 1) {
    expect(Object.keys(read(line.slice(0, length)) ?? {}).length).toBeLessThanOrEqual(2)
  }
})
