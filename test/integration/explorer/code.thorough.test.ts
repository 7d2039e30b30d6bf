/** The queries of the explorer as commands, programs and tables: they get the numbers that the page shows, with a key and without. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { inspect, promisify } from 'node:util'
import { packagePath } from '../../../src/lib/package-path.js'
import { updateProject } from '../../../src/projects/store.js'
import type { BatchResult, Query } from '../../../src/explorer/client/contract.js'
import { formatCurl, formatProgram, joinCode } from '../../../src/explorer/code/code.js'
import { ENDPOINTS, type ApiAccess } from '../../../src/explorer/code/endpoints.js'
import { buildTableRequest, listRelations } from '../../../src/explorer/code/footer.js'
import { buildQueries } from '../../../src/explorer/queries/build-queries.js'
import { PANELS } from '../../../src/explorer/queries/panels.js'
import { DEFAULT_STATE, type AskedState } from '../../../src/explorer/state/state.js'
import { compile } from '../../support/docs/programs.js'
import { startShops, type Shops } from '../tools/shops.js'

const run = promisify(execFile)

let shops: Shops
let accesses: readonly ApiAccess[]
beforeAll(async () => {
  shops = await startShops()
  await updateProject(shops.cluster.home.store, 'wide', { hasPublicDashboard: true })
  const { address } = shops.service
  accesses = [
    { base: address, key: shops.narrow.key },
    { base: `${address}/share/wide`, key: undefined },
  ]
})
afterAll(() => shops.stop())

const ODD = `it's "$HOME" \`id\` \\ Größe\n$(id) !! '`
const STATES: readonly AskedState[] = [
  { ...DEFAULT_STATE, tabs: { users: 'retention', pages: 'page:entry' } },
  {
    ...DEFAULT_STATE,
    zone: 'Europe/Berlin',
    period: { from: '2026-06-01', to: '2026-06-10' },
    comparison: 'weekdays',
    join: 'or',
    filters: [
      { field: 'page:path', operator: 'is', values: [ODD, '/', '/pricing'] },
      { field: 'country', operator: 'is', values: ['DE', ''] },
    ],
    details: {
      view: 'value',
      tab: 'country',
      search: '',
      orderBy: 'visits',
      direction: 'asc',
      page: 0,
    },
  },
]
/** Each query of the page once; who is there now changes with each second. */
const QUERIES = STATES.flatMap((state) => buildQueries(state))

const post = ({ base, key }: ApiAccess, path: string, body: object, accept = '*/*') =>
  fetch(base + path, {
    method: 'POST',
    headers: {
      Accept: accept,
      'Content-Type': 'application/json',
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(body),
  })

async function askAll(access: ApiAccess): Promise<readonly BatchResult[]> {
  const all: BatchResult[] = []
  for (let i = 0; i < QUERIES.length; i += 20) {
    const queries = QUERIES.slice(i, i + 20).map((one, k) => ({ ...one, id: `q${k}` }))
    const response = await post(access, '/v1/analytics/batch', { queries })
    all.push(...((await response.json()) as { results: BatchResult[] }).results)
  }
  return all
}

test('each command gets the answer that the page has', async () => {
  for (const access of accesses) {
    const answers = await askAll(access)
    expect(answers.map(({ status }) => status)).toEqual(QUERIES.map(() => 200))
    for (const [i, query] of QUERIES.entries()) {
      const { stdout } = await run('sh', ['-c', joinCode(formatCurl(query, access))])
      expect(stdout).toBe(JSON.stringify(answers[i]?.body))
    }
  }
})

/** The query of each operation that is run as a program. */
const RUN = (['query', 'values', 'retention'] as const).map((operation) =>
  QUERIES.find((one) => one.operation === operation)!,
)
/** The queries of all tabs. */
const OF_TABS = PANELS.flatMap(({ id, tabs }) =>
  [...tabs.map((tab) => tab.id), ...(id === 'events' ? ["event:prop:it's"] : [])].flatMap((tab) =>
    STATES.flatMap((state) => buildQueries({ ...state, tabs: { [id]: tab } })),
  ),
)

test('the programs of all tabs type-check with the client, and get the answers of the page', async () => {
  // Beside node_modules, so that the types of the client find theirs.
  const folder = await mkdtemp(packagePath('dist/programs-'))
  const client = path.join(folder, 'node_modules/@tallyhouse/client')
  await run('node', [packagePath('clients/typescript/build.mjs'), path.join(client, 'dist')])
  await cp(packagePath('clients/typescript/package.json'), path.join(client, 'package.json'))
  const toRun = accesses.flatMap((access) => RUN.map((query) => ({ access, query })))
  const printed = [
    ...toRun.map(({ access, query }) => formatProgram(query, access)),
    ...OF_TABS.map((query) => formatProgram(query, accesses[0]!)),
  ]
  const texts = [...new Set(printed)]
  const files = texts.map((_, n) => path.join(folder, `program-${n}.ts`))
  await Promise.all(texts.map((text, n) => writeFile(files[n]!, text)))
  compile(files)
  for (const [n, { access, query }] of toRun.entries()) {
    const { operation, body } = query
    const response = await post(access, ENDPOINTS[operation].path, body)
    const { data } = (await response.json()) as { readonly data: unknown }
    const { stdout } = await run('node', [files[n]!.replace(/ts$/, 'js')], {
      env: { ...process.env, NODE_OPTIONS: '', TALLYHOUSE_API_KEY: access.key ?? '' },
    })
    expect(stdout).toBe(`${inspect(data)}\n`)
  }
  await rm(folder, { recursive: true })
})

test('each table has the rows of the page, and all that follow', async () => {
  for (const access of accesses) {
    for (const query of QUERIES) {
      const { path, body } = buildTableRequest(query)
      const response = await post(access, path, body, 'text/csv')
      const lines = (await response.text()).trimEnd().split('\r\n')
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        expect.stringContaining('text/csv'),
      ])
      const total = Number(response.headers.get('tally-total'))
      if (query.operation === 'query') expect(lines.length).toBeGreaterThanOrEqual(total + 1)
    }
  }
})

test('each query but those for values says which relations answer it', async () => {
  const explained = (query: Query) => ENDPOINTS[query.operation].explainPath !== undefined
  expect(QUERIES.filter((one) => !explained(one)).map(({ operation }) => operation)).toEqual(
    STATES.map(() => 'values'),
  )
  for (const access of accesses) {
    for (const { operation, body } of QUERIES.filter(explained)) {
      const response = await post(access, ENDPOINTS[operation].explainPath ?? '', body)
      const { plan } = (await response.json()) as { plan: Parameters<typeof listRelations>[0] }
      expect(listRelations(plan)).not.toEqual([])
    }
  }
})
