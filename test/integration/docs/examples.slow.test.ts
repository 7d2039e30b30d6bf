/** The docs show what the service answers: each example is asked, in each language that shows it. `npm run docs` writes the answers. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { issueKey } from '../../../src/auth/api-keys.js'
import { openSigningKey } from '../../../src/auth/signing-key.js'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { PAGES } from '../../../src/http/site/docs/page-list.js'
import { mapWithLimit } from '../../../src/http/batch/post-batch.js'
import { packagePath } from '../../../src/lib/package-path.js'
import {
  listExamples,
  readAnswer,
  writeAnswers,
  type Example,
} from '../../support/docs/examples.js'
import { listBlocks } from '../../support/docs/forms.js'
import {
  runCommand,
  runCommands,
  runPython,
  runShell,
  runTypeScript,
  type Running,
} from '../../support/docs/programs.js'
import { writeOutputs } from '../../support/docs/terminal.js'
import { findPython } from '../client/python.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { openDuckDatabase } from '../../support/duckdb/database.js'
import { raw } from '../../support/duckdb/sql.js'
import { topUpDemo } from '../../support/store/loading.js'
import { startTestService } from '../../support/world/service.js'

/** The moment of the answers, and the days of history that the demo then has. */
const DEMO_NOW = new Date('2026-06-15T12:00:00Z')
const DEMO_DAYS = 101

/** How many questions are asked at a time. A key may have a few, and no more wait. */
const AT_ONCE = 4

/** The page whose examples have code. */
const RECIPES = 'docs/recipes.md'
const isWriting = process.env['UPDATE_DOCS'] === '1'

let database: TestDatabase
let service: RunningService
let running: Running

beforeAll(async () => {
  const folder = await mkdtemp(packagePath('dist/docs-'))
  database = await createDatabase()
  const { store } = database
  const { project } = await topUpDemo(store, { now: DEMO_NOW, days: DEMO_DAYS })
  service = await startTestService({ store, now: () => DEMO_NOW, env: { DATA_DIR: folder } })
  const signingKey = await openSigningKey({ store, dataDir: folder }, DEMO_NOW)
  const scopes = ['read', 'export'] as const
  const request = { projectId: project.id, name: 'docs', scopes, expiresAt: null }
  const { token } = await issueKey(store, signingKey, request, DEMO_NOW)
  running = { folder, address: service.address, key: token }
})
afterAll(async () => {
  await service.stop()
  await database.drop()
  await rm(running.folder, { recursive: true })
})

async function ask({ path, json, title }: Example): Promise<unknown> {
  const response = await fetch(`${running.address}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${running.key}`, 'Content-Type': 'application/json' },
    body: json,
  })
  const body: unknown = await response.json()
  if (!response.ok) throw new Error(`${title}: ${JSON.stringify(body)}`)
  return body
}

const files = PAGES.map(({ file }) => file)

test.each(files)('the answers in %s are those of the service', async (file) => {
  const text = await readFile(packagePath(file), 'utf8')
  const examples = listExamples(text)
  const answers = await mapWithLimit(examples, AT_ONCE, ask)
  const written = await writeAnswers(text, answers, file === RECIPES)
  if (isWriting && examples.length > 0) await writeFile(packagePath(file), written)
  else if (examples.length > 0) expect(text).toBe(written)
})

test('the commands of the terminal page print what it shows', async () => {
  const file = packagePath('docs/terminal.md')
  const text = await readFile(file, 'utf8')
  const written = await writeOutputs(text, running)
  if (isWriting) await writeFile(file, written)
  else expect(text).toBe(written)
})

/** What the page shows of an answer. */
const withoutQuery = (answer: unknown): unknown => ({ ...(answer as object), query: undefined })

const python = findPython('httpx')

test('the commands of the recipes get the same answers', async () => {
  const text = await readFile(packagePath(RECIPES), 'utf8')
  const answers = await runShell(text, running)
  expect(answers.map(withoutQuery)).toEqual(listExamples(text).map(readAnswer))
})

test('the command of the formats page gets the table that it shows', async () => {
  const text = await readFile(packagePath('docs/formats.md'), 'utf8')
  const [table = ''] = listBlocks(text, 'csv')
  const [answer = ''] = await runCommands(text, running)
  const shown = answer.replaceAll('\r\n', '\n')
  if (isWriting) await writeFile(packagePath('docs/formats.md'), text.replace(table, shown))
  else expect([table, answer]).toEqual([shown, shown.replaceAll('\n', '\r\n')])
})

test.each([
  ['TypeScript', runTypeScript],
  ...(python === undefined ? [] : ([['Python', runPython.bind(null, python)]] as const)),
])(
  'the recipes in %s get the same answers, and the loop over pages all rows',
  async (_, runAll) => {
    const recipes = await readFile(packagePath(RECIPES), 'utf8')
    const paging = await readFile(packagePath('docs/paging.md'), 'utf8')
    const answers = await runAll([recipes, paging], running)
    expect(answers.slice(0, -1).map(withoutQuery)).toEqual(listExamples(recipes).map(readAnswer))
    const json = '{ "date_range": "30days", "group_by": ["city"], "limit": 1000 }'
    const all = await ask({ path: '/v1/analytics/query', title: 'all rows', shown: '', json })
    expect(answers.at(-1)).toEqual((all as { readonly data: unknown }).data)
  },
)

describe('the page of other tools', () => {
  const OTHER_TOOLS = packagePath('docs/other-tools.md')

  interface Target {
    readonly url: string
    readonly url_options: { readonly data: string }
    readonly columns: readonly { readonly selector: string }[]
  }

  test('each panel of Grafana gets rows with the columns that it names', async () => {
    const [dashboard = ''] = listBlocks(await readFile(OTHER_TOOLS, 'utf8'), 'json')
    const { panels } = JSON.parse(dashboard) as {
      readonly panels: readonly { readonly targets: readonly Target[] }[]
    }
    for (const { url, url_options, columns } of panels.flatMap(({ targets }) => targets)) {
      const response = await fetch(running.address + url, {
        method: 'POST',
        headers: {
          Accept: 'text/csv',
          Authorization: `Bearer ${running.key}`,
          'Content-Type': 'application/json',
        },
        body: url_options.data
          .replace('${__from:date:YYYY-MM-DD}', '2026-05-16')
          .replace('${__to:date:YYYY-MM-DD}', '2026-06-15'),
      })
      const [names, ...rows] = (await response.text()).trimEnd().split('\r\n')
      expect([response.status, names]).toEqual([200, columns.map((one) => one.selector).join(',')])
      expect(rows.length).toBeGreaterThan(5)
    }
    expect(panels).toHaveLength(3)
  })

  test('its SQL counts in exported files what a query counts', async () => {
    const text = await readFile(OTHER_TOOLS, 'utf8')
    const [, command = ''] = listBlocks(text, 'sh')
    const [statements = ''] = listBlocks(text, 'sql')
    const folder = await mkdtemp(packagePath('dist/export-'))
    const duck = await openDuckDatabase()
    try {
      await runCommand(`cd '${folder}'\n${command}`, running)
      const [view = '', query = ''] = statements
        .replace("'events/", `'${folder}/events/`)
        .split(/(?<=;)\n/)
      await duck.run(raw(view))
      const rows = await duck.run(raw(query))
      const json =
        '{ "date_range": "yesterday", "metrics": ["users"], "group_by": ["country"], "limit": 3 }'
      const answer = await ask({ path: '/v1/analytics/query', title: 'users', shown: '', json })
      expect(
        rows.map(({ country, users }) => ({
          group: { country },
          metrics: { users: Number(users) },
        })),
      ).toEqual((answer as { readonly data: unknown }).data)
    } finally {
      duck.close()
      await rm(folder, { recursive: true })
    }
  })
})
