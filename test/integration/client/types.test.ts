/** The types of `@tallyhouse/client`: rows have what their query asks for, and slips do not compile. */
import { expect, test } from '@jest/globals'
import path from 'node:path'
import ts from 'typescript'
import { packagePath } from '../../../src/lib/package-path.js'
import { checkTypes } from '../../support/check-types.js'

const SETUP = `
import { createTallyhouse, createTracker, type Metric, type QueryRequest, type QueryResponse, type Result, type Row } from '${packagePath('clients/typescript/src/index.js')}'
const tally = createTallyhouse({ url: 'http://127.0.0.1', apiKey: 'key' })
/** Returns the data. It does not compile for a value that is no result. */
const get = async <T,>(result: Promise<Result<T>>): Promise<T> => {
  const one = await result
  if (!one.ok) throw new Error(one.error.message)
  return one.data
}
const first = async <T,>(result: Promise<Result<{ readonly data: readonly T[] }>>): Promise<T> =>
  (await get(result)).data[0]!
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Equal<A, B>): void => undefined
declare const body: QueryRequest
declare const metrics: readonly Metric[]
declare const metric: 'users' | 'visits'
declare const isWide: boolean
interface Events {
  signup: { readonly plan: 'free' | 'pro'; readonly seats?: number }
  pageview: { readonly theme?: string }
}
const tracker = createTracker<Events>({ url: 'http://127.0.0.1', token: 'tallypub_1' })
const open = createTracker({ url: 'http://127.0.0.1', token: 'tallypub_1' })
const USER = { user_id: 'u42' }
`.trim()

/** Uses that compile, each on a line. `same` demands that two types are equal. */
const RIGHT = `
same<number, (typeof a)['metrics']['users']>(true); const a = await first(tally.query({ date_range: 'today', metrics: ['users'] }))
same<number | null, (typeof b)['metrics']['bounce_rate']>(true); const b = await first(tally.query({ date_range: 'today', metrics: ['users', 'bounce_rate'] }))
same<'users' | 'pageviews' | 'events', keyof (typeof c)['metrics']>(true); const c = await first(tally.query({ date_range: 'today' }))
same<'users' | 'pageviews' | 'events', keyof (typeof d)['metrics']>(true); const d = await first(tally.query({ date_range: 'today', metrics: [] }))
same<'date' | 'country', keyof (typeof e)['group']>(true); const e = await first(tally.query({ date_range: 'today', group_by: ['interval:day'], then_by: ['country'], order_by: [['date', 'asc']] }))
same<string, (typeof f)['group']['event:prop:plan']>(true); const f = await first(tally.query({ date_range: 'today', group_by: [{ property: 'plan' }], order_by: [{ field: 'event:prop:plan', direction: 'desc' }] }))
same<never, keyof (typeof g)['group']>(true); const g = await first(tally.query({ date_range: 'today', group_by: [], order_by: [] }))
same<Row, typeof h>(true); const h = await first(tally.query(body))
same<number | undefined, (typeof i)['metrics']['users']>(true); const i = await first(tally.query({ date_range: 'today', metrics }))
same<number | null | undefined, (typeof j)['metrics']['visits']>(true); const j = await first(tally.query({ date_range: 'today', metrics: [metric] }))
same<number, (typeof k)['metrics']['pageviews']>(true); const k = await first(tally.query({ ...body, metrics: ['pageviews'] }))
same<number | null, (typeof l)['comparison']['change']['users']>(true); const l = await first(tally.query({ date_range: 'today', metrics: ['users'], compare: 'previous_period' }))
same<number, (typeof m)['totals']['metrics']['users']>(true); const m = await get(tally.query({ date_range: 'today', metrics: ['users'], include: { totals: true } }))
same<string, (typeof n)[0]['group']['browser']>(true); const n = await get(tally.allRows({ date_range: 'today', group_by: ['browser'], order_by: [['browser', 'asc']] }))
for await (const page of tally.pages({ date_range: 'today', metrics: ['visits'] })) if (page.ok) same<number | null, (typeof page.data.data)[0]['metrics']['visits']>(true)
for await (const part of tally.rows({ date_range: 'today', metrics: ['users'], group_by: ['os'], compare: 'previous_year' })) if (part.ok) same<'os' | 'users' | 'comparison_users' | 'comparison_change_users', keyof (typeof part.data)[0]>(true)
const o = (await get(tally.batch({ queries: [{ id: 'a', body: { date_range: 'today', metrics: ['users'] } }, { id: 'b', operation: 'values', body: { date_range: 'today', field: 'os' } }] }))).results
if (!('error' in o[0].body)) same<number, (typeof o)[0]['body'] extends infer T ? Extract<T, { readonly data: unknown }> extends { readonly data: readonly (infer R extends { readonly metrics: { readonly users: unknown } })[] } ? R['metrics']['users'] : never : never>(true)
if (!('error' in o[1].body)) o[1].body.data[0]?.value satisfies string | undefined
await tally.batch({ queries: [{ id: 'a', body }] })
await tally.query(isWide ? { date_range: 'all' } : { date_range: 'today', metrics: ['visits'] })
await tally.query({ date_range: { from: '2026-01-01', to: '2026-01-31' }, filters: [{ type: 'group', operator: 'or', filters: [{ field: 'country', operator: 'is', value: ['DE'] }] }] })
const p: Result<QueryResponse> = await tally.query({ date_range: 'today', metrics: ['users'], group_by: ['country'] })
const q = { date_range: ['2026-01-01', '2026-01-31'], metrics: ['users'] } as const; (await first(tally.query(q))).metrics.users satisfies number
await tally.table({ interval: 'day', date_range: 'today' }, { operation: 'retention', format: 'arrow' })
await tally.table({ date_range: 'today', limit: 'all' }, { format: 'csv' })
tracker.track('signup', { ...USER, url: 'https://shop.example/join', properties: { plan: 'pro' } }) satisfies string
tracker.track('pageview', { ip: '203.0.113.7', user_agent: 'Firefox' })
open.track('anything', { ...USER, properties: { words: ['red', 'shoes'] } })
`

/** Slips, and what the compiler says about each. */
const WRONG: readonly (readonly [code: string, message: RegExp])[] = [
  ["tally.query({ date_range: 'today', metrics: ['visitors'] })", /Did you mean '"visits"'/],
  ["tally.query({ date_range: 'today', metrics: 'users' })", /'string' is not assignable/],
  ["tally.query({ date_range: 'today', group_by: ['contry'] })", /Did you mean '"country"'/],
  ["tally.query({ date_range: 'today', group_by: ['event:property:plan'] })", /not assignable/],
  ["tally.query({ date_range: 'today', group_by: ['country'], then_by: ['interval:day'] })", /not/],
  ["tally.query({ date_range: '30day' })", /Did you mean '"30days"'/],
  ["tally.query({ metrics: ['users'] })", /'date_range' is missing/],
  ["tally.query({ date_range: 'today', groupby: ['country'] })", /not assignable to type 'never'/],
  [
    "tally.query({ date_range: 'today', metrics: ['users'], order_by: [['visits', 'desc']] })",
    /"visits".* is not assignable/,
  ],
  [
    "tally.query({ date_range: 'today', group_by: ['country'], order_by: [['contry', 'asc']] })",
    /"contry".* is not assignable/,
  ],
  [
    "tally.query({ date_range: 'today', group_by: ['country'], order_by: [['date', 'asc']] })",
    /"date".* is not assignable/,
  ],
  [
    "tally.query({ date_range: 'today', order_by: [{ field: 'users', direction: 'down' }] })",
    /"down".* is not assignable/,
  ],
  ["tally.query({ date_range: 'today', order_by: ['users', 'desc'] })", /not assignable/],
  [
    "tally.query({ date_range: 'today', filters: [{ field: 'contry', operator: 'is', value: ['DE'] }] })",
    /"contry"/,
  ],
  [
    "tally.query({ date_range: 'today', filters: [{ field: 'country', operator: 'is', value: ['DE'], not: true }] })",
    /not assignable to type 'never'/,
  ],
  ["tally.query({ date_range: 'today', include: { total: true } })", /'total'|'never'/],
  [
    "(await first(tally.query({ date_range: 'today', metrics: ['users'] }))).metrics.visits",
    /'visits' does not exist/,
  ],
  [
    "(await first(tally.query({ date_range: 'today', group_by: ['country'] }))).group.browser",
    /'browser' does not exist/,
  ],
  [
    "(await first(tally.query({ date_range: 'today', metrics: ['bounce_rate'] }))).metrics.bounce_rate.toFixed()",
    /possibly 'null'/,
  ],
  [
    "(await first(tally.query({ date_range: 'today', metrics: ['users'] }))).comparison",
    /'comparison' does not exist/,
  ],
  ["(await get(tally.query({ date_range: 'today' }))).totals", /'totals' does not exist/],
  [
    "tally.batch({ queries: [{ id: 'a', body: { date_range: 'today', metrics: ['users'], order_by: [['visits', 'asc']] } }] })",
    /"visits".* is not assignable/,
  ],
  [
    "(await get(tally.batch({ queries: [{ id: 'a', body: { date_range: 'today' } }] }))).results[1]",
    /index '1'/,
  ],
  ["tally.table({ date_range: 'today' }, { operation: 'retention' })", /'interval' is missing/],
  ["tracker.track('sigup', { ...USER, properties: { plan: 'pro' } })", /"sigup"/],
  ["tracker.track('signup', { ...USER, properties: { plan: 'gold' } })", /Type '"gold"'/],
  ["tracker.track('signup', { ...USER, properties: { plan: 'pro', seat: 1 } })", /'seat' does not/],
  ["tracker.track('signup', USER)", /'properties' is missing/],
  ["tracker.track('pageview', {})", /not assignable/],
  ["tracker.track('pageview', { ip: '203.0.113.7' })", /not assignable/],
  ["open.track('a', { ...USER, userId: 'u42' })", /'userId' does not exist|Did you mean/],
  ["tally.table({ date_range: 'today' }, { format: 'xlsx' })", /'"xlsx"' is not assignable/],
]

/** Compiles a module; returns what the compiler says about each of its lines. */
function compile(text: string): readonly (readonly string[])[] {
  const file = path.join(packagePath('test/integration/client'), 'uses.mts')
  const lines: string[][] = text.split('\n').map(() => [])
  for (const { file: source, start = 0, messageText } of checkTypes(new Map([[file, text]]), [
    'node',
  ])) {
    const message = ts.flattenDiagnosticMessageText(messageText, '\n')
    if (source?.fileName !== file) throw new Error(`${source?.fileName ?? ''}: ${message}`)
    lines[source.getLineAndCharacterOfPosition(start).line]!.push(message)
  }
  return lines
}

const line = SETUP.split('\n').length
const right = RIGHT.trim().split('\n')
const messages = compile([SETUP, ...right, ...WRONG.map(([code]) => `void (${code})`)].join(';\n'))

test('what is before the uses compiles', () => {
  expect(messages.slice(0, line).flat()).toEqual([])
})

test.each(right.map((code, index) => [code, index] as const))('%s', (_, index) => {
  expect(messages[line + index]).toEqual([])
})

test.each(WRONG.map(([code, message], index) => [code, message, index] as const))(
  'does not compile: %s',
  (_, message, index) => {
    expect(messages[line + right.length + index]?.join('\n')).toMatch(message)
  },
)
