/** Calls of `tally` that no page should make, and the events that are sent for them. */

export interface OddCall {
  readonly why: string
  readonly call: string
  /** The event that is sent; if absent, none is. */
  readonly want?: { readonly name: string; readonly properties?: object }
}

const many = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, place) => [`p${place}`, place]))

export const ODD_CALLS: readonly OddCall[] = [
  { why: 'no name', call: `tally()` },
  { why: 'an empty name', call: `tally('')` },
  { why: 'a number as name', call: `tally(7)` },
  { why: 'an object as name', call: `tally({ name: 'x' })` },
  { why: 'a symbol as name', call: `tally(Symbol('x'))` },
  {
    why: 'a listener of clicks',
    call: `document.body.addEventListener('click', tally); document.body.click()`,
  },
  { why: 'a long name', call: `tally('n'.repeat(500))`, want: { name: 'n'.repeat(128) } },
  {
    why: 'a name cut within a character',
    call: `tally('n'.repeat(127) + '😀')`,
    want: { name: 'n'.repeat(127) },
  },
  {
    why: 'a NUL and half a character',
    call: `tally('a\\0b\\ud83d', { x: '\\0y\\udc00z😀' })`,
    want: { name: 'ab', properties: { x: 'yz😀' } },
  },
  {
    why: 'NUL and half a character in names of properties, and as escape sequences in text',
    call: `tally('x', { 'k\\0': { 'i\\udc00': '\\\\u0000 \\\\ud800' }, l: ['\\n\\u0001', '\\\\'] })`,
    want: {
      name: 'x',
      properties: { k: { i: '\\u0000 \\ud800' }, l: ['\n\u0001', '\\'] },
    },
  },
  {
    why: 'numbers that are too large',
    call: `tally('x', { a: 2 ** 63, b: -1e300, c: [1e21], d: 9e15, e: '1e300', f: new Date(0) })`,
    want: {
      name: 'x',
      properties: {
        a: '9223372036854776000',
        b: '-1e+300',
        c: ['1e+21'],
        d: 9e15,
        e: '1e300',
        f: '1970-01-01T00:00:00.000Z',
      },
    },
  },
  { why: 'null as properties', call: `tally('x', null)`, want: { name: 'x' } },
  { why: 'a text as properties', call: `tally('x', 'pro')`, want: { name: 'x' } },
  { why: 'a number as properties', call: `tally('x', 5)`, want: { name: 'x' } },
  { why: 'a function as properties', call: `tally('x', () => 1)`, want: { name: 'x' } },
  {
    why: 'a list as properties',
    call: `tally('x', ['a'])`,
    want: { name: 'x', properties: { 0: 'a' } },
  },
  {
    why: 'too many properties',
    call: `tally('x', ${JSON.stringify(many(100))})`,
    want: { name: 'x', properties: many(64) },
  },
  {
    why: 'names of properties that the collector rejects',
    call: `tally('x', { '': 1, ['k'.repeat(129)]: 2, ok: 3 })`,
    want: { name: 'x', properties: { ok: 3 } },
  },
  {
    why: 'values that JSON cannot represent',
    call: `tally('x', { a: undefined, b() {}, c: NaN, d: Symbol('d') })`,
    want: { name: 'x', properties: { c: null } },
  },
  { why: 'a circular object', call: `const round = {}; round.self = round; tally('x', round)` },
  { why: 'a large integer', call: `tally('x', { n: 1n })` },
  { why: 'a getter that throws', call: `tally('x', { get a() { throw new Error('no') } })` },
  {
    why: 'a DOM event as properties',
    call: `tally('x', new Event('click'))`,
    want: { name: 'x', properties: { isTrusted: false } },
  },
]
