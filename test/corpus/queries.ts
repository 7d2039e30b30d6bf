/** Queries: every field with values of every wrong kind, and every filter wrong in every way. */
import { invalid, label, query, type Draft, type Want } from './case.js'

/** Values of every kind. None of them is valid for a field, except those that `VALID` names. */
const VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1, 1.5, 1e21, '', 'x', '1', 'null', 'NaN', 'true', [], {}],
  ...[
    [null],
    [[]],
    [{}],
    [1],
    ['x'],
    ['', ''],
    { a: 1 },
    { length: 1, 0: 'users' },
    'x'.repeat(2_000),
  ],
]
const VALID: Readonly<Record<string, readonly unknown[]>> = {
  metrics: [[]],
  group_by: [[]],
  order_by: [[]],
  filters: [[]],
  limit: [1],
  offset: [0, 1],
  filtersOperator: [],
  date_range: [],
}

const base = (fields: object): object => ({ date_range: '30days', ...fields })
const isIn = (values: readonly unknown[], value: unknown): boolean =>
  values.some((one) => JSON.stringify(one) === JSON.stringify(value))

const FIELD_CASES = Object.entries(VALID).flatMap(([field, valid]) =>
  VALUES.map((value) =>
    query(
      `${field} ${label(value)}`,
      base({ [field]: value }),
      isIn(valid, value) ? 'ok' : invalid(),
    ),
  ),
)

const PRESETS = ['today', 'yesterday', '7days', '30days', '90days', '12months', 'mtd', 'ytd', 'all']
const VALID_TIMES = [
  ...['2026-01-01', '2024-02-29', '2000-02-29', '0001-01-01', '9999-12-31', '2026-01-01T00:00:00Z'],
  ...[
    '2026-03-29T02:30:00Z',
    '2026-10-25T02:30:00Z',
    '9999-12-31T23:59:59Z',
    '2025-12-31T23:59:59Z',
  ],
]
const INVALID_TIMES = [
  ...[
    '2025-02-29',
    '1900-02-29',
    '2026-02-30',
    '2026-04-31',
    '2026-13-01',
    '2026-00-01',
    '2026-01-00',
  ],
  ...[
    '2026-01-32',
    '0000-01-01',
    '-0001-01-01',
    '10000-01-01',
    '+2026-01-01',
    '26-01-01',
    '2026-1-1',
  ],
  ...[
    '2026/01/01',
    '01.01.2026',
    '2026-01',
    '2026',
    '20260101',
    '2026-W01',
    '2026-001',
    ' 2026-01-01',
  ],
  ...['2026-01-01 ', '2026-01-01T', '2026-01-01T10', '2026-01-01T10:00', '2026-01-01T10:00Z'],
  ...['2026-01-01T10:00:00', '2026-01-01 10:00:00', '2026-01-01T10:00:00z', '2026-01-01t10:00:00Z'],
  ...['2026-01-01T10:00:00.000Z', '2026-01-01T10:00:00.5Z', '2026-01-01T10:00:00+00:00'],
  ...['2026-01-01T10:00:00+01:00', '2026-01-01T10:00:00-0000', '2026-01-01T24:00:00Z'],
  ...[
    '2026-01-01T23:60:00Z',
    '2026-01-01T23:59:60Z',
    '2026-06-30T23:59:60Z',
    '2026-01-01T25:00:00Z',
  ],
  ...[
    '２０２６-01-01',
    '2026‐01‐01',
    '2026-01-01\n',
    '\u00002026-01-01',
    'now',
    'today',
    '1767225600',
  ],
]
const DATE_CASES = [
  ...PRESETS.flatMap((preset) => [
    query(`preset ${preset}`, { date_range: preset }, 'ok'),
    ...[preset.toUpperCase(), ` ${preset}`, `${preset} `, [preset], [preset, preset]].map((wrong) =>
      query(`preset ${label(wrong)}`, { date_range: wrong }, invalid()),
    ),
  ]),
  ...VALID_TIMES.flatMap((at) => [
    query(`one second at ${at}`, { date_range: [at, at] }, 'ok'),
    query(`from the first day to ${at}`, { date_range: ['0001-01-01', at] }, 'ok'),
    query(`three times ${at}`, { date_range: [at, at, at] }, invalid('date_range')),
    query(`only ${at}`, { date_range: [at] }, invalid('date_range')),
  ]),
  ...INVALID_TIMES.flatMap((at) => [
    query(`from ${label(at)}`, { date_range: [at, '2026-12-31'] }, invalid()),
    query(`to ${label(at)}`, { date_range: ['2026-01-01', at] }, invalid()),
  ]),
  query('end before start', { date_range: ['2026-01-02', '2026-01-01'] }, invalid('date_range')),
  query(
    'end a second before start',
    { date_range: ['2026-01-01T00:00:01Z', '2026-01-01T00:00:00Z'] },
    invalid('date_range'),
  ),
]

const METRICS = [
  ...['users', 'pageviews', 'events', 'bounce_rate', 'visit_duration'],
  ...['visits', 'views_per_visit', 'events_per_visit', 'new_users'],
]
const GROUPS = [
  ...[
    'interval:auto',
    'interval:hour',
    'interval:year',
    'country',
    'city',
    'page:origin',
    'page:path',
    'browser',
    'device_type',
    'os',
    'referrer',
  ],
  ...[
    'referrer_type',
    'utm_source',
    'utm_medium',
    'utm_campaign',
    'utm_content',
    'utm_term',
    'event:name',
    'channel',
    'page:entry',
    'page:exit',
    'region',
    'language',
  ],
  ...[
    'event:prop:plan',
    'event:prop: ',
    'event:prop:event:prop:a',
    `event:prop:${'x'.repeat(128)}`,
  ],
]
const NO_GROUPS = [
  ...[
    'interval',
    'interval:minute',
    'interval:15minutes',
    'interval:Day',
    'interval:constructor',
    'Country',
    ' country',
    'page',
    'page:hash',
    'event',
    'event:prop',
    'event:prop:',
  ],
  ...[
    `event:prop:${'x'.repeat(129)}`,
    'event:prop:a\u0000',
    'date',
    'users',
    'project_id',
    'user_id',
    '*',
    '1',
  ],
]
const ORDER_FIELDS = [...METRICS, 'date', 'browser', 'country', 'interval:auto', 'x', '']
const SHAPE_CASES = [
  ...METRICS.flatMap((metric) => [
    query(`metric ${metric}`, base({ metrics: [metric] }), 'ok'),
    query(`metric ${metric} twice`, base({ metrics: [metric, metric] }), invalid('metrics')),
    query(`metric ${metric.toUpperCase()}`, base({ metrics: [metric.toUpperCase()] }), invalid()),
    query(`metric ${metric} with a space`, base({ metrics: [`${metric} `] }), invalid()),
  ]),
  query('one metric too many', base({ metrics: [...METRICS, 'users'] }), invalid('metrics')),
  ...GROUPS.flatMap((group) => [
    query(`group ${label(group)}`, base({ group_by: [group] }), 'ok'),
    query(`group ${label(group)} twice`, base({ group_by: [group, group] }), invalid('group_by')),
  ]),
  ...NO_GROUPS.map((group) =>
    query(`group ${label(group)}`, base({ group_by: [group] }), invalid()),
  ),
  ...['interval:auto', 'browser'].flatMap((group) =>
    ORDER_FIELDS.map((field) => {
      const isColumn =
        METRICS.slice(0, 3).includes(field) ||
        field === group ||
        (field === 'date' && group.startsWith('int'))
      const body = base({ group_by: [group], order_by: [[field, 'asc']] })
      return query(`${group} by ${field}`, body, isColumn ? 'ok' : invalid('order_by.0.0'))
    }),
  ),
  ...['ASC', '', 'up', null, 1].map((direction) =>
    query(`direction ${label(direction)}`, base({ order_by: [['users', direction]] }), invalid()),
  ),
  ...([[], ['users'], ['users', 'asc', 'x'], [['users', 'asc']]] as const).map((order) =>
    query(`order ${label(order)}`, base({ order_by: [order] }), invalid()),
  ),
  ...[1, 999, 1000].map((limit) => query(`limit ${limit}`, base({ limit }), 'ok')),
  ...[0, 1001, -1, 2 ** 53].map((limit) =>
    query(`limit ${limit}`, base({ limit }), invalid('limit')),
  ),
  ...[0, 1e9].map((offset) => query(`offset ${offset}`, base({ offset }), 'ok')),
  ...[-1, 1e9 + 1, 0.5].map((offset) =>
    query(`offset ${offset}`, base({ offset }), invalid('offset')),
  ),
]

const text = { value: 'a', operator: 'eq' }
const list = { value: ['a'], operator: 'oneOf' }
type FilterExample = { readonly type: string } & Readonly<Record<string, unknown>>

/** A complete filter of each type, its required members, and a member of another type. */
const FILTERS: readonly (readonly [FilterExample, readonly string[], string])[] = [
  [{ type: 'page', origin: text, path: text, hash: text }, [], 'name'],
  [{ type: 'entry_page', ...text }, ['value', 'operator'], 'path'],
  [{ type: 'exit_page', ...text }, ['value', 'operator'], 'path'],
  [{ type: 'event', name: text, properties: [{ property: 'p', ...text }] }, [], 'path'],
  [{ type: 'user', anonymous: true }, ['anonymous'], 'country'],
  [{ type: 'location', country: list, city: list }, [], 'value'],
  [{ type: 'referrer', ...text }, ['value', 'operator'], 'country'],
  [{ type: 'referrer_url', ...text }, ['value', 'operator'], 'name'],
  [{ type: 'referrer_type', ...list }, ['value', 'operator'], 'origin'],
  [{ type: 'channel', ...list }, ['value', 'operator'], 'origin'],
  [{ type: 'utm_tags', utm_source: text, utm_term: text }, [], 'source'],
  [{ type: 'browser', ...list }, ['value', 'operator'], 'version'],
  [{ type: 'device', ...list }, ['value', 'operator'], 'device'],
  [{ type: 'region', ...list }, ['value', 'operator'], 'country'],
  [{ type: 'language', ...list }, ['value', 'operator'], 'region'],
  [{ type: 'os', ...list }, ['value', 'operator'], 'browser'],
]
const without = (filter: object, member: string): object =>
  Object.fromEntries(Object.entries(filter).filter(([name]) => name !== member))

function buildFilterCases([filter, required, foreign]: (typeof FILTERS)[number]): readonly Draft[] {
  const { type } = filter
  const ask = (name: string, given: unknown, want: Want): Draft =>
    query(`filter ${type}: ${name}`, base({ filters: [given] }), want)
  const members = Object.keys(filter).filter((name) => name !== 'type')
  return [
    ask('complete', filter, 'ok'),
    ask('alone', { type }, required.length === 0 ? 'ok' : invalid()),
    ask('member of another type', { ...filter, [foreign]: text }, invalid()),
    ask('without type', without(filter, 'type'), invalid()),
    ask('type in capitals', { ...filter, type: type.toUpperCase() }, invalid()),
    ask('type in a list', { ...filter, type: [type] }, invalid()),
    ask('in a list', [filter], invalid()),
    ...required.map((member) => ask(`without ${member}`, without(filter, member), invalid())),
    ...members.flatMap((member) =>
      [null, 0, 'x', [[]], { value: 1, operator: 'eq' }, { value: 'a' }, { operator: 'eq' }]
        .filter(
          (value) => !(member === 'value' && value === 'x' && !Array.isArray(filter['value'])),
        )
        .map((value) =>
          ask(`${member} is ${label(value)}`, { ...filter, [member]: value }, invalid()),
        ),
    ),
    ...['EQ', '', 'regex', 'is', 'oneof', 'like', '=', null].map((operator) =>
      ask(`operator ${label(operator)}`, changeOperators(filter, operator), invalid()),
    ),
  ]
}

/** Replaces the operator of a filter and of its clauses. */
function changeOperators(filter: object, operator: unknown): object {
  const change = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && 'operator' in value
      ? { ...value, operator }
      : value
  const changed = Object.entries(filter).map(([name, value]: [string, unknown]) => [
    name,
    Array.isArray(value) ? value.map(change) : change(value),
  ])
  return {
    ...(Object.fromEntries(changed) as object),
    ...('operator' in filter || 'anonymous' in filter ? { operator } : {}),
  }
}

const OPERATORS = [
  'any',
  'eq',
  'notEq',
  'contains',
  'notContains',
  'startsWith',
  'endsWith',
  'matches',
  'notMatches',
]
const LIMIT_CASES = [
  ...OPERATORS.flatMap((operator) => [
    query(
      `operator ${operator}`,
      base({ filters: [{ type: 'page', path: { value: '/', operator } }] }),
      'ok',
    ),
    query(
      `operator ${operator} with ""`,
      base({ filters: [{ type: 'referrer', value: '', operator }] }),
      'ok',
    ),
  ]),
  ...['oneOf', 'noneOf'].flatMap((operator) => [
    query(`${operator} nothing`, base({ filters: [{ type: 'os', operator, value: [] }] }), 'ok'),
    query(`${operator} 500`, base({ filters: [{ type: 'os', operator, value: many(500) }] }), 'ok'),
    query(
      `${operator} 501`,
      base({ filters: [{ type: 'os', operator, value: many(501) }] }),
      invalid(),
    ),
  ]),
  ...['and', 'or', 'not'].map((operator) =>
    query(`group by ${operator}`, base({ filters: [group(operator, 2)] }), 'ok'),
  ),
  ...['AND', 'nor', '', 'none', null].map((operator) =>
    query(`group by ${label(operator)}`, base({ filters: [group(operator, 1)] }), invalid()),
  ),
  ...[0, 20, 21].map((count) =>
    query(`group of ${count}`, base({ filters: [group('or', count)] }), invalid()),
  ),
  query(
    'a visit',
    base({ filters: [{ type: 'visit', filters: [{ type: 'os', ...list }] }] }),
    'ok',
  ),
  ...[[], {}, 'x', [null], [{ type: 'visit' }]].map((filters) =>
    query(
      `a visit of ${label(filters)}`,
      base({ filters: [{ type: 'visit', filters }] }),
      invalid(),
    ),
  ),
  ...['(', 'a**', '\\1', '(?=a)', 'x'.repeat(257)].flatMap((value) =>
    ['matches', 'notMatches'].map((operator) =>
      query(
        `${operator} ${label(value)}`,
        base({ filters: [{ type: 'page', path: { value, operator } }] }),
        invalid('filters.0.path.value'),
      ),
    ),
  ),
  ...[false, true].map((caseSensitive) =>
    query(
      `case-sensitive: ${caseSensitive}`,
      base({ filters: [{ type: 'referrer', ...text, caseSensitive }] }),
      'ok',
    ),
  ),
  query('group of 19', base({ filters: [group('or', 19)] }), 'ok'),
  ...[1, 4].map((depth) =>
    query(`groups ${depth} deep`, base({ filters: [nestGroups(depth)] }), 'ok'),
  ),
  ...[5, 20, 1_000, 1_400].map((depth) =>
    query(`groups ${depth} deep`, base({ filters: [nestGroups(depth)] }), invalid()),
  ),
  query('20 filters', base({ filters: many(20).map(() => ({ type: 'os', ...list })) }), 'ok'),
  query(
    '21 filters',
    base({ filters: many(21).map(() => ({ type: 'os', ...list })) }),
    invalid('filters'),
  ),
  query(
    '20 filters of 150 values by path with all metrics',
    base({
      metrics: METRICS,
      group_by: ['page:path'],
      filters: many(20).map(() => ({ type: 'os', operator: 'noneOf', value: many(150) })),
    }),
    'ok',
  ),
  query(
    '40 string clauses',
    base({
      filters: [{ type: 'event', properties: many(40).map((property) => ({ property, ...text })) }],
    }),
    'ok',
  ),
  query(
    '41 string clauses',
    base({
      filters: [
        { type: 'event', properties: many(40).map((property) => ({ property, ...text })) },
        { type: 'page', path: text },
      ],
    }),
    invalid('filters'),
  ),
]

function group(operator: unknown, count: number): object {
  return { type: 'group', operator, filters: many(count).map(() => ({ type: 'os', ...list })) }
}

function nestGroups(depth: number): object {
  let filter: object = { type: 'page' }
  for (let i = 0; i < depth; i += 1) filter = { type: 'group', operator: 'not', filters: [filter] }
  return filter
}

function many(count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `v${n}`)
}

export const QUERY_CASES: readonly Draft[] = [
  ...FIELD_CASES,
  ...DATE_CASES,
  ...SHAPE_CASES,
  ...FILTERS.flatMap(buildFilterCases),
  ...LIMIT_CASES,
]
