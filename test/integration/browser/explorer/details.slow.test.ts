/** The dialog with all rows of a tab, its file, and the search of the bar, in a real browser by keyboard and mouse: a project of 5,000 paths. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import path from 'node:path'
import type { Browser, Page } from 'puppeteer-core'
import { issueKey } from '../../../../src/auth/api-keys.js'
import { openSigningKey } from '../../../../src/auth/signing-key.js'
import { packagePath } from '../../../../src/lib/package-path.js'
import { startByteProxy } from '../../../support/faults/byte-proxy.js'
import { createDatabase } from '../../../support/store/database.js'
import { startTestService } from '../../../support/world/service.js'
import { createWorld } from '../../../support/world/world.js'
import { describeInBrowser, startChromium } from '../chromium.js'
import { readText, readTexts } from './read-page.js'

const NOW = new Date('2026-03-01T12:00:00Z')
const MARKUP = '/<img src=x onerror="document.title=1"><b>&amp;'

/** Page n has one pageview of a user of its own; the one whose name is markup has one more. */
const EVENTS = Array.from({ length: 5001 }, (_, n) => ({
  timestamp: '2026-02-20T10:00:00Z',
  user_id: `u${n}`,
  origin: 'https://example.com',
  path: n < 2 ? MARKUP : `/Page/${String(n).padStart(4, '0')}`,
  country: n % 10 === 0 ? 'DE' : n % 10 === 1 ? 'ZA' : 'US',
}))

/** Starts a service with the project. Returns a link to the page with a key, by way of a proxy, and what stops both. */
async function startService() {
  const dataDir = await mkdtemp(packagePath('dist/explorer-'))
  const database = await createDatabase()
  const project = await createWorld(database.store, EVENTS)
  const service = await startTestService({
    store: database.store,
    now: () => NOW,
    env: { DATA_DIR: dataDir },
  })
  const signingKey = await openSigningKey({ store: database.store, dataDir }, NOW)
  const request = { projectId: project.id, name: 'explorer', expiresAt: null }
  const { token } = await issueKey(database.store, signingKey, request, NOW)
  const downloads = await mkdtemp(packagePath('dist/downloads-'))
  const proxy = await startByteProxy(Number(new URL(service.address).port))
  return {
    proxy,
    link: `http://127.0.0.1:${proxy.port}/explore?compare=off#key=${token}`,
    downloads,
    stop: async () => {
      await proxy.stop()
      await service.stop()
      await database.drop()
      await rm(dataDir, { recursive: true })
      await rm(downloads, { recursive: true })
    },
  }
}

/** Stops the page's clock: after some seconds, it would ask again who is there now, with the next action or without one. */
const STAND_STILL = `{
  const start = Date.now()
  window.Date = class extends Date {
    constructor(...given) {
      super(...(given.length === 0 ? [start] : given))
    }
  }
  window.setInterval = () => 0
}`
const IS_SETTLED = `document.querySelector('main[aria-busy=false]') !== null
  && document.querySelector('.loading, .old') === null`
const FIRST_ROW = `document.querySelector('dialog tbody th')?.textContent`
const SHOWN = `[document.querySelector('dialog .pages p')?.textContent, ${FIRST_ROW}]`
const FILTERS = `[...document.querySelectorAll('.pills .pill')].map((one) => one.textContent)`
const FOCUSED = `document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent`

describeInBrowser('the details and the search of the explorer', () => {
  let service: Awaited<ReturnType<typeof startService>>
  let browser: Browser
  let page: Page
  let requests = 0
  beforeAll(async () => {
    ;[service, browser] = await Promise.all([startService(), startChromium()])
    page = await browser.newPage()
    await page.evaluateOnNewDocument(STAND_STILL)
    page.on('request', (request) => (requests += request.url().endsWith('/batch') ? 1 : 0))
    await act(() => page.goto(service.link))
  })
  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  /** Does something, waits for its numbers, and reads them. Returns first how many requests it took. */
  async function act(action: () => Promise<unknown>, read = SHOWN): Promise<unknown> {
    requests = 0
    await action()
    await page.waitForNetworkIdle({ idleTime: 400 })
    await page.waitForFunction(IS_SETTLED)
    return [requests, ...((await page.evaluate(read)) as readonly unknown[])]
  }

  test('by keyboard: opened, sorted, paged, searched and closed, with one request each', async () => {
    await page.focus('[data-panel=pages] .open-details button')
    const press =
      (...keys: readonly Parameters<Page['keyboard']['press']>[0][]) =>
      async () => {
        for (const key of keys) await page.keyboard.press(key)
      }
    expect(await act(press('Enter'))).toEqual([1, '1–50 of 5,000', MARKUP])
    expect(await page.evaluate(FOCUSED)).toBe('Search Path')
    expect(await act(press('Tab', 'Tab', 'Tab', 'Enter'))).toEqual([1, '1–50 of 5,000', MARKUP])
    expect(await act(press('Enter'))).toEqual([1, '1–50 of 5,000', '/Page/5000'])
    expect(await page.evaluate(`document.querySelector('dialog thead th').ariaSort`)).toBe(
      'descending',
    )
    expect(await act(() => page.click('dialog .pages button:last-child'))).toEqual([
      1,
      '51–100 of 5,000',
      '/Page/4950',
    ])
    await page.focus('dialog input')
    const search = (text: string) => () => page.keyboard.sendCharacter(text)
    expect(await act(search('pAGe/12'))).toEqual([1, '1–50 of 100', '/Page/1299'])
    expect(await act(search('34'))).toEqual([1, '1–1 of 1', '/Page/1234'])
    expect(await act(search('<b>'))).toEqual([1, 'Nothing found.', null])
    expect(await act(press('Escape'))).toEqual([0, null, null])
    expect(await page.evaluate(FOCUSED)).toBe('Details: Pages: Path')
  })

  test.each([
    [
      'page:path',
      [
        'Path',
        'Users ↓',
        'New users',
        'Entries',
        'Pageviews',
        'Events',
        'Bounce rate of entries',
        'Visit duration of entries',
      ],
    ],
    [
      'page:entry',
      [
        'Entry',
        'Users ↓',
        'New users',
        'Visits',
        'Pageviews',
        'Events',
        'Bounce rate',
        'Visit duration',
        'Views per visit',
      ],
    ],
  ])('the columns of %s say what is counted', async (tab, columns) => {
    const details = encodeURIComponent(JSON.stringify([tab, '', 'users', 'desc', 0]))
    const other = await page.browserContext().newPage()
    await other.goto(service.link)
    await other.waitForSelector('.card data')
    await other.goto(service.link.replace('?', `?details=${details}&`))
    await other.waitForSelector('dialog tbody')
    expect(await readTexts(other, 'dialog thead th')).toEqual(columns)
    await other.close()
  })

  test('a file that breaks off is an error in words, and there again as a whole', async () => {
    const { proxy, downloads } = service
    const session = await browser.target().createCDPSession()
    await session.send('Browser.setDownloadBehavior', {
      behavior: 'allow',
      downloadPath: downloads,
    })
    const read = () => readText(page, '[data-panel=pages] .csv + [role=status]')
    // The focus scrolls it out from under the bar.
    await page.focus('[data-panel=pages] .csv')
    proxy.set({ harm: 'cut', direction: 'response', after: 5_000 })
    await page.click('[data-panel=pages] .csv')
    while ((await read()) === '') await setTimeout(20)
    expect(await read()).toBe(
      'No file: The answer broke off. The service may be restarting, or the network may be down.',
    )
    expect(proxy.harmed()).toBe(1)
    expect(await readdir(downloads)).toEqual([])
    proxy.set()
    await page.click('[data-panel=pages] .csv')
    while ((await read()) !== 'Downloaded') await setTimeout(20)
    while (!(await readdir(downloads)).some((name) => name.endsWith('.csv'))) await setTimeout(20)
    const [name = ''] = await readdir(downloads)
    const lines = (await readFile(path.join(downloads, name), 'utf8')).trimEnd().split('\r\n')
    expect([lines[0], lines.length]).toEqual(['page:path,users', 5001])
  })

  test('by mouse: countries are searched by name, and a click filters', async () => {
    expect(await act(() => page.click('[data-panel=places] .open-details button'))).toEqual([
      1,
      '1–3 of 3',
      'United States',
    ])
    expect(await act(() => page.keyboard.sendCharacter('GERM'))).toEqual([1, '1–1 of 1', 'Germany'])
    expect(await act(() => page.click('dialog tbody button'), FILTERS)).toEqual([
      1,
      'Country is Germany',
    ])
  })

  test('the search of the bar finds a country by its name, and pages by their paths', async () => {
    await page.focus('input[name=search]')
    expect(
      await act(async () => {
        await page.keyboard.sendCharacter('south af')
        await page.keyboard.press('Enter')
        // The filter follows the answer to the search.
        await page.waitForFunction(`${FILTERS}.join().includes('South Africa')`)
      }, FILTERS),
    ).toEqual([2, 'Country is Germany or South Africa'])
    await page.keyboard.sendCharacter('<b>')
    await page.waitForFunction(`document.querySelectorAll('.search li').length === 2`)
    // The last of the requests that the typing made may be on its way.
    await page.waitForNetworkIdle({ idleTime: 400 })
    expect(await page.$$('.search img, .search b')).toEqual([])
    expect(
      await act(async () => {
        await page.keyboard.press('ArrowUp')
        await page.keyboard.press('Enter')
      }, FILTERS),
    ).toEqual([1, 'Country is Germany or South Africa', 'Path contains <b>'])
  })
})
