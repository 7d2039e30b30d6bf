/** The questions of the explorer as commands, programs and tables: they get the numbers that the page shows, with a key and without. */
import { afterAll, beforeAll, expect } from '@jest/globals'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { inspect, promisify } from 'node:util'
import { packagePath } from '../../../src/lib/package-path.js'
import { updateProject } from '../../../src/projects/store.js'
import type { BatchResult, Question } from '../../../src/explorer/client/contract.js'
import { formatCurl, formatProgram, joinCode } from '../../../src/explorer/code/code.js'
import { ENDPOINTS, type Asker } from '../../../src/explorer/code/endpoints.js'
import { buildTableRequest, listRelations } from '../../../src/explorer/code/footer.js'
import { buildQuestions } from '../../../src/explorer/questions/build-questions.js'
import { PANELS } from '../../../src/explorer/questions/panels.js'
import { DEFAULT_STATE, type ExplorerState } from '../../../src/explorer/state/state.js'
import { compile } from '../../support/docs/programs.js'
import { startShops, type Shops } from '../tools/shops.js'
import { thoroughTest as test } from '../../support/effort.js'

const run = promisify(execFile)

let shops: Shops
let askers: readonly Asker[]
beforeAll(async () => {
  shops = await startShops()
  await updateProject(shops.cluster.home.store, 'wide', { hasPublicDashboard: true })
  const { address } = shops.service
  askers = [
    { base: address, key: shops.narrow.key },
    { base: `${address}/share/wide`, key: undefined },
  ]
})
afterAll(() => shops.stop())

const ODD = `it's "$HOME" \`id\` \\ Größe\n$(id) !! '`
const STATES: readonly ExplorerState[] = [
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
    details: { tab: 'country', search: '', orderBy: 'visits', direction: 'asc', page: 0 },
  },
]
/** Each question of the page once; who is there now changes with each second. */
const QUESTIONS = STATES.flatMap((state) => buildQuestions(state))

const post = ({ base, key }: Asker, path: string, body: object, accept = '*/*') =>
  fetch(base + path, {
    method: 'POST',
    headers: {
      Accept: accept,
      'Content-Type': 'application/json',
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(body),
  })

async function askAll(asker: Asker): Promise<readonly BatchResult[]> {
  const all: BatchResult[] = []
  for (let i = 0; i < QUESTIONS.length; i += 20) {
    const queries = QUESTIONS.slice(i, i + 20).map((one, k) => ({ ...one, id: `q${k}` }))
    const response = await post(asker, '/v1/analytics/batch', { queries })
    all.push(...((await response.json()) as { results: BatchResult[] }).results)
  }
  return all
}

test('each command gets the answer that the page has', async () => {
  for (const asker of askers) {
    const answers = await askAll(asker)
    expect(answers.map(({ status }) => status)).toEqual(QUESTIONS.map(() => 200))
    for (const [i, question] of QUESTIONS.entries()) {
      const { stdout } = await run('sh', ['-c', joinCode(formatCurl(question, asker))])
      expect(stdout).toBe(JSON.stringify(answers[i]?.body))
    }
  }
})

/** The question of each operation that is run as a program. */
const RUN = (['query', 'values', 'retention'] as const).map((operation) =>
  QUESTIONS.find((one) => one.operation === operation)!,
)
/** The questions of all tabs. */
const OF_TABS = PANELS.flatMap(({ id, tabs }) =>
  [...tabs.map((tab) => tab.id), ...(id === 'events' ? ["event:prop:it's"] : [])].flatMap((tab) =>
    STATES.flatMap((state) => buildQuestions({ ...state, tabs: { [id]: tab } })),
  ),
)

test('the programs of all tabs type-check with the client, and get the answers of the page', async () => {
  // Beside node_modules, so that the types of the client find theirs.
  const folder = await mkdtemp(packagePath('dist/programs-'))
  const client = path.join(folder, 'node_modules/@tallyhouse/client')
  await run('node', [packagePath('clients/typescript/build.mjs'), path.join(client, 'dist')])
  await cp(packagePath('clients/typescript/package.json'), path.join(client, 'package.json'))
  const toRun = askers.flatMap((asker) => RUN.map((question) => ({ asker, question })))
  const printed = [
    ...toRun.map(({ asker, question }) => formatProgram(question, asker)),
    ...OF_TABS.map((question) => formatProgram(question, askers[0]!)),
  ]
  const texts = [...new Set(printed)]
  const files = texts.map((_, n) => path.join(folder, `program-${n}.ts`))
  await Promise.all(texts.map((text, n) => writeFile(files[n]!, text)))
  compile(files)
  for (const [n, { asker, question }] of toRun.entries()) {
    const { operation, body } = question
    const response = await post(asker, ENDPOINTS[operation].path, body)
    const { data } = (await response.json()) as { readonly data: unknown }
    const { stdout } = await run('node', [files[n]!.replace(/ts$/, 'js')], {
      env: { ...process.env, NODE_OPTIONS: '', TALLYHOUSE_API_KEY: asker.key ?? '' },
    })
    expect(stdout).toBe(`${inspect(data)}\n`)
  }
  await rm(folder, { recursive: true })
})

test('each table has the rows of the page, and all that follow', async () => {
  for (const asker of askers) {
    for (const question of QUESTIONS) {
      const { path, body } = buildTableRequest(question)
      const response = await post(asker, path, body, 'text/csv')
      const lines = (await response.text()).trimEnd().split('\r\n')
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        expect.stringContaining('text/csv'),
      ])
      const total = Number(response.headers.get('tally-total'))
      if (question.operation === 'query') expect(lines.length).toBeGreaterThanOrEqual(total + 1)
    }
  }
})

test('each question but those for values says which relations answer it', async () => {
  const explained = (question: Question) => ENDPOINTS[question.operation].explainPath !== undefined
  expect(QUESTIONS.filter((one) => !explained(one)).map(({ operation }) => operation)).toEqual(
    STATES.map(() => 'values'),
  )
  for (const asker of askers) {
    for (const { operation, body } of QUESTIONS.filter(explained)) {
      const response = await post(asker, ENDPOINTS[operation].explainPath ?? '', body)
      const { plan } = (await response.json()) as { plan: Parameters<typeof listRelations>[0] }
      expect(listRelations(plan)).not.toEqual([])
    }
  }
})
