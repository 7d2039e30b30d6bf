/** A query as a command and as a program. */
import { expect, test } from '@jest/globals'
import type { Query } from '../../../src/explorer/client/contract.js'
import { formatCurl, formatProgram, joinCode } from '../../../src/explorer/code/code.js'

const BY_KEY = { base: 'https://stats.example', key: 'th_abc.d-e_f' }
const PUBLIC = { base: 'http://127.0.0.1:8080/share/shop', key: undefined }

const QUERY: Query = {
  id: 'cards',
  operation: 'query',
  body: { date_range: '30days', metrics: ['users'] },
}
const RETENTION: Query = {
  id: 'users',
  operation: 'retention',
  body: {
    interval: 'week',
    date_range: '30days',
    filters: [{ type: 'event', name: { operator: 'eq', value: `it's $5\n"für" \\'` } }],
  },
}
const VALUES: Query = {
  id: 'search',
  operation: 'values',
  body: { date_range: 'all', field: 'country' },
}

test.each<[string, Query, typeof BY_KEY | typeof PUBLIC, string]>([
  [
    'a query with a key',
    QUERY,
    BY_KEY,
    `curl https://stats.example/v1/analytics/query \\
  -H 'Authorization: Bearer th_abc.d-e_f' \\
  -H 'Content-Type: application/json' \\
  -d '{ "date_range": "30days", "metrics": ["users"] }'`,
  ],
  [
    'quotes of retention on a public dashboard',
    RETENTION,
    PUBLIC,
    `curl http://127.0.0.1:8080/share/shop/v1/analytics/retention \\
  -H 'Content-Type: application/json' \\
  -d '{
  "interval": "week",
  "date_range": "30days",
  "filters": [
    {
      "type": "event",
      "name": { "operator": "eq", "value": "it'\\''s $5\\n\\"für\\" \\\\'\\''" }
    }
  ]
}'`,
  ],
  [
    'values with an address and a key that are to be quoted',
    VALUES,
    { base: 'http://[::1]:8080', key: `a'b` },
    `curl 'http://[::1]:8080/v1/analytics/values' \\
  -H 'Authorization: Bearer a'\\''b' \\
  -H 'Content-Type: application/json' \\
  -d '{ "date_range": "all", "field": "country" }'`,
  ],
])('the command of %s', (_, query, access, want) => {
  expect(joinCode(formatCurl(query, access))).toBe(want)
})

test('the key is a part of its own, and the only one', () => {
  const secrets = formatCurl(QUERY, BY_KEY).filter((part) => typeof part !== 'string')
  expect(secrets).toEqual([{ secret: 'th_abc.d-e_f' }])
  expect(formatCurl(QUERY, PUBLIC).filter((part) => typeof part !== 'string')).toEqual([])
})

test.each<[string, Query, typeof BY_KEY | typeof PUBLIC, string]>([
  [
    'a query with a key',
    QUERY,
    BY_KEY,
    `import { createTallyhouse } from '@tallyhouse/client'

const tally = createTallyhouse({
  url: 'https://stats.example',
  apiKey: process.env.TALLYHOUSE_API_KEY ?? '',
})

const result = await tally.query({ date_range: '30days', metrics: ['users'] })
if (result.ok) console.log(result.data.data)
else console.error(result.error.code, result.error.details)
`,
  ],
  [
    'retention on a public dashboard',
    RETENTION,
    PUBLIC,
    `import { createTallyhouse } from '@tallyhouse/client'

const tally = createTallyhouse({
  url: 'http://127.0.0.1:8080/share/shop',
  apiKey: '',
})

const result = await tally.retention({
  interval: 'week',
  date_range: '30days',
  filters: [
    { type: 'event', name: { operator: 'eq', value: "it's $5\\n\\"für\\" \\\\'" } },
  ],
})
if (result.ok) console.log(result.data.data)
else console.error(result.error.code, result.error.details)
`,
  ],
  [
    'a query about all projects with an admin key',
    { id: 'projects', operation: 'projects', body: { date_range: '30days', metrics: ['users'] } },
    BY_KEY,
    `import { createManagement } from '@tallyhouse/client'

const tally = createManagement({
  url: 'https://stats.example',
  adminKey: process.env.TALLYHOUSE_ADMIN_KEY ?? '',
})

const result = await tally.queryProjects({
  date_range: '30days',
  metrics: ['users'],
})
if (result.ok) console.log(result.data.data)
else console.error(result.error.code, result.error.details)
`,
  ],
])('the program of %s', (_, query, access, want) => {
  expect(formatProgram(query, access)).toBe(want)
})
