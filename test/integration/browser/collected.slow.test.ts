/** From a page in a real browser, through the collector and the loader, to the response of a query. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from 'puppeteer-core'
import { issueKey } from '../../../src/auth/api-keys.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import { readConfig } from '../../../src/config/config.js'
import { createLogger } from '../../../src/lib/log.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { createProject } from '../../../src/projects/store.js'
import { startService, type RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { toCluster } from '../../../src/cluster/cluster.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { describeInBrowser, startChromium } from './chromium.js'
import { html } from './visit.js'
import { startSite } from './web.js'
import { startStreamingLoader } from '../../support/store/loading.js'

/** The user agent of a browser with a window: that of a headless browser counts as a bot. */
const AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

describeInBrowser('a visit', () => {
  let database: TestDatabase
  let keys: TestKeys
  let service: RunningService
  let project: StoredProject
  let site: Awaited<ReturnType<typeof startSite>>
  let browser: Browser
  const now = (): Date => new Date()
  beforeAll(async () => {
    database = await createDatabase()
    keys = await createKeys(database.store)
    const fields = { id: 'shop', name: 'Shop', domain: 'shop.example' }
    project = await createProject(database.store, fields, now())
    const config = readConfig({ DATA_DIR: keys.dataDir, PORT: '0', NODE_ENV: 'test' })
    const logger = createLogger('silent')
    service = await startService({ config, cluster: toCluster(database.store), logger, now })
    site = await startSite()
    browser = await startChromium()
  })
  afterAll(async () => {
    await browser.close()
    await site.close()
    await service.stop()
    await database.drop()
    await keys.remove()
  })

  /** The events of the inbox as they were sent, without their ids. */
  async function inbox(count: number): Promise<readonly object[]> {
    for (let attempt = 0; ; attempt++) {
      const { rows } = await database.store.admin.query<{ line: string }>(
        statement(sql`SELECT line FROM inbox WHERE project = 'shop' ORDER BY received_at, row`),
      )
      if (rows.length >= count || attempt === 100) {
        return rows.map(({ line }) => {
          const { event_id: id, ...event } = JSON.parse(line) as { event_id: string }
          expect(id).toMatch(/^\d+(-\d+){3}$/)
          return event
        })
      }
      await sleep(50)
    }
  }

  async function ask(token: string): Promise<unknown> {
    const response = await fetch(`${service.address}/v1/analytics/query`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        date_range: 'all',
        metrics: ['users', 'pageviews', 'events'],
        group_by: ['page:path'],
        order_by: [['page:path', 'asc']],
        filters: [
          { type: 'page', origin: { operator: 'eq', value: site.url } },
          { type: 'browser', operator: 'oneOf', value: ['Chrome'] },
        ],
      }),
    })
    return ((await response.json()) as { data: unknown }).data
  }

  test('is stored as it was sent, and is counted in the response', async () => {
    const script = `<script defer src="${service.address}/tally.js" data-token="${project.token}"></script>`
    site.pages.set('/start', html(script))
    const page = await browser.newPage()
    await page.setUserAgent({ userAgent: AGENT })
    await page.goto(`${site.url}/start?utm_source=news`, { referer: 'http://search.example/' })
    expect(await inbox(1)).toHaveLength(1)
    await page.evaluate(`history.pushState({}, '', '/join'); tally('signup', { plan: 'pro' })`)
    const sender = { ip: '127.0.0.1', user_agent: AGENT, language: 'en-US' }
    expect(await inbox(3)).toStrictEqual([
      {
        name: 'pageview',
        url: `${site.url}/start?utm_source=news`,
        referrer_url: 'http://search.example/',
        ...sender,
      },
      { name: 'pageview', url: `${site.url}/join`, ...sender },
      { name: 'signup', url: `${site.url}/join`, properties: { plan: 'pro' }, ...sender },
    ])

    const request = { projectId: 'shop', name: '', expiresAt: null }
    const { token } = await issueKey(database.store, keys.signingKey, request, now())
    const want = [
      { group: { 'page:path': '/join' }, metrics: { users: 1, pageviews: 1, events: 1 } },
      { group: { 'page:path': '/start' }, metrics: { users: 1, pageviews: 1, events: 0 } },
    ]
    const { store } = database
    const loader = startStreamingLoader({ store, logger: createLogger('silent') })
    try {
      let answer: unknown = []
      for (let attempt = 0; attempt < 100 && (answer as []).length < want.length; attempt++) {
        await sleep(100)
        answer = await ask(token)
      }
      expect(answer).toEqual(want)
    } finally {
      await loader.stop()
    }
  })
})
