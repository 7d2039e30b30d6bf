/** The life of a project on the explorer, in a real browser: its first event, a service that restarts, and a key that is revoked. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser, Page } from 'puppeteer-core'
import { issueKey, revokeKey } from '../../../../src/auth/api-keys.js'
import type { RunningService } from '../../../../src/bootstrap/serving/start-service.js'
import { createLogger } from '../../../../src/lib/log.js'
import { createProject } from '../../../../src/projects/store.js'
import { createDatabase, type TestDatabase } from '../../../support/store/database.js'
import { startStreamingLoader } from '../../../support/store/loading.js'
import { createKeys, type TestKeys } from '../../../support/world/keys.js'
import { startTestService } from '../../../support/world/service.js'
import { describeInBrowser, startChromium } from '../chromium.js'
import { html } from '../visit.js'
import { startSite } from '../web.js'
import { readText, readTexts } from './read-page.js'

/** The user agent of a browser with a window: that of a headless browser counts as a bot. */
const AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'
const USERS = '.card[data-metric=users] data'
const AWAY =
  'The service does not answer. It may be restarting, or the network may be down. Try again'

describeInBrowser('a project on the explorer', () => {
  const now = (): Date => new Date()
  let database: TestDatabase
  let keys: TestKeys
  let service: RunningService
  let loader: ReturnType<typeof startStreamingLoader>
  let site: Awaited<ReturnType<typeof startSite>>
  let browser: Browser
  let page: Page
  beforeAll(async () => {
    database = await createDatabase()
    const { store } = database
    keys = await createKeys(store)
    const fields = { id: 'shop', name: 'Shop', domain: 'shop.example' }
    await createProject(store, fields, now())
    service = await start('0')
    loader = startStreamingLoader({ store, logger: createLogger('silent') })
    ;[site, browser] = await Promise.all([startSite(), startChromium()])
    page = await browser.newPage()
  })
  afterAll(async () => {
    await browser.close()
    await site.close()
    await loader.stop()
    await service.stop()
    await database.drop()
    await keys.remove()
  })

  const start = (port: string): Promise<RunningService> =>
    startTestService({
      store: database.store,
      now,
      env: { DATA_DIR: keys.dataDir, PORT: port },
    })
  const issue = (projectId = 'shop') =>
    issueKey(database.store, keys.signingKey, { projectId, name: '', expiresAt: null }, now())

  let keyId: string
  test('waits for its first event, says how to send it, and shows it when it is there', async () => {
    const { key, token } = await issue()
    keyId = key.id
    await page.goto(`${service.address}/explore#key=${token}`)
    await page.waitForSelector('.first-event')
    await page.waitForSelector(USERS)
    expect(await readText(page, USERS)).toBe('0')
    expect(await readText(page, '.first-event h2')).toBe('Waiting for the first event')
    site.pages.set('/start', html(await readText(page, '.first-event pre')))
    const visitor = await browser.newPage()
    await visitor.setUserAgent({ userAgent: AGENT })
    await visitor.goto(`${site.url}/start`)
    await page.bringToFront()
    await page.waitForFunction(`document.querySelector('${USERS}').textContent === '1'`)
    await page.waitForFunction(`document.querySelector('.first-event') === null`)
    await page.waitForSelector('[data-panel=pages] tbody th')
    expect(await readTexts(page, '[data-panel=pages] tbody th')).toEqual(['/start'])
  })

  test('says that the service is away, and asks again on demand when it is back', async () => {
    const { port } = new URL(service.address)
    await service.stop()
    await page.click('.card[data-metric=visits]')
    await page.waitForSelector('.failure button')
    expect(await readText(page, '.failure')).toBe(AWAY)
    await page.click('.failure button')
    await page.waitForSelector('main[aria-busy=false] .failure')
    expect(await readText(page, '.failure')).toBe(AWAY)
    service = await start(port)
    await page.click('.failure button')
    await page.waitForFunction(`document.querySelector('.failure, .loading, .old') === null`)
    expect(await readText(page, USERS)).toBe('1')
    expect(await readTexts(page, 'section.chart tbody td')).toContain('1')
  })

  test('is closed to a key that is revoked, and open to another', async () => {
    await revokeKey(database.store, keyId, now())
    // A service notices within five seconds; whatever the page asks then has no answer.
    for (let i = 0; (await page.$('.key-form')) === null; i++) {
      await page.evaluate(`document.querySelector('[aria-label="The period before"]')?.click()`)
      await page.waitForNetworkIdle({ idleTime: 200 })
      expect(i).toBeLessThan(25)
    }
    expect(await readText(page, '.key-form [role=alert]')).toBe(
      'The key is not accepted: The API key is missing or not valid.',
    )
    expect(await page.evaluate(`sessionStorage.length`)).toBe(0)
    await page.type('input[name=key]', (await issue()).token)
    await page.keyboard.press('Enter')
    await page.waitForSelector(USERS)
    // The name comes with another response than the numbers.
    await page.waitForFunction(`document.querySelector('h1').textContent === 'Shop'`)
  })

  test('shows another project once the link to it is pasted', async () => {
    await createProject(database.store, { id: 'blog', name: 'Blog', domain: 'blog.example' }, now())
    const { token } = await issue('blog')
    await page.goto(`${service.address}/explore#key=${token}`)
    await page.waitForFunction(`document.querySelector('h1').textContent === 'Blog'`)
    await page.waitForSelector(USERS)
    expect([await readText(page, USERS), page.url()]).toEqual(['0', `${service.address}/explore`])
    expect(await page.evaluate(`Object.values(sessionStorage)`)).toEqual([token])
  })
})
