/** The explorer in a real browser: its key, and what it says when something fails. */
import { expect, test } from '@jest/globals'
import type { HTTPRequest, Page } from 'puppeteer-core'
import { describeExplorer } from './describe-explorer.js'
import { openExplorer } from './explorer-page.js'
import { readText, readTexts } from './read-page.js'

const CARD = '.card data'

describeExplorer('the explorer and its key', (started) => {
  const HEADERS = { 'Content-Type': 'application/json', 'Retry-After': '12' }
  const storage = (page: Page) =>
    page.evaluate(
      `({ tab: sessionStorage.length, all: localStorage.length, cookie: document.cookie })`,
    )

  test('a key in the fragment stands neither in the address nor in the history, and ends with the tab', async () => {
    const { page, close } = await openExplorer(
      started().browser,
      started().service,
      '?period=7days',
    )
    expect(page.url()).toBe(`${started().service.address}/explore?period=7days`)
    expect(await storage(page)).toEqual({ tab: 1, all: 0, cookie: '' })
    await page.reload()
    await page.waitForSelector(CARD)
    await page.goto(`${started().service.address}/livez`)
    await page.goBack()
    expect(page.url()).not.toContain(started().service.key)
    const other = await page.browserContext().newPage()
    await other.goto(`${started().service.address}/explore`)
    await other.waitForSelector('input[name=key]')
    expect(await storage(other)).toEqual({ tab: 0, all: 0, cookie: '' })
    await close()
  })

  test('a link with a key that is pasted into the tab of the page is used, and leaves the address', async () => {
    const { address, key } = started().service
    const { page, close } = await openExplorer(started().browser, started().service)
    const paste = (token: string) => page.goto(`${address}/explore#key=${token}`)
    const stored = () => page.evaluate(`Object.values(sessionStorage)`)
    await paste('wrong')
    await page.waitForSelector('.key-form [role=alert]')
    expect([page.url(), await stored()]).toEqual([`${address}/explore`, []])
    await paste(key)
    await page.waitForSelector(CARD)
    expect([page.url(), await stored()]).toEqual([`${address}/explore`, [key]])
    // The entries of the history are those of the first page, of the first link, and of the second.
    for (let steps = 0; steps < 2; steps++) {
      await page.evaluate(`new Promise((resolve) => {
        addEventListener('popstate', resolve, { once: true })
        history.back()
      })`)
      expect(page.url()).toBe(`${address}/explore`)
    }
    expect(await storage(page)).toEqual({ tab: 1, all: 0, cookie: '' })
    await close()
  })

  test('a key is pasted; one that is not accepted is asked for again, with the reason', async () => {
    const context = await started().browser.createBrowserContext()
    const page = await context.newPage()
    await page.goto(`${started().service.address}/explore`)
    const paste = async (key: string): Promise<void> => {
      await page.locator('input[name=key]').fill(key)
      await page.keyboard.press('Enter')
    }
    await paste('wrong')
    await page.waitForSelector('.key-form [role=alert]')
    expect(await readText(page, '[role=alert]')).toMatch(/^The key is not accepted: /)
    expect(await storage(page)).toMatchObject({ tab: 0 })
    await paste(started().service.key)
    await page.waitForSelector(CARD)
    await context.close()
  })

  test.each([
    [
      429,
      '{"error":{"code":"RATE_LIMIT_EXCEEDED","message":"Too many requests."}}',
      'Too many requests. Try again in 12 seconds. Try again',
    ],
    [
      502,
      '<h1>Bad gateway</h1>',
      'The service does not answer. It may be restarting, or the network may be down. Try again',
    ],
    [403, '{"error":{"code":"FORBIDDEN","message":"Not with this key."}}', 'Not with this key. '],
  ])('an answer with status %d is put in words', async (status, body, words) => {
    const { page, close } = await openExplorer(started().browser, started().service)
    await page.setRequestInterception(true)
    page.on('request', (request) => {
      if (request.method() === 'POST') void request.respond({ status, headers: HEADERS, body })
      else void request.continue()
    })
    await page.locator('.card[data-metric=visits]').click()
    await page.waitForSelector('.failure')
    expect(await readText(page, '.failure')).toBe(words)
    await close()
  })

  test('a part whose query fails says so, and asks it again on demand', async () => {
    const { page, close } = await openExplorer(started().browser, started().service)
    await page.setRequestInterception(true)
    const message = 'The service is busy. Try again after the seconds given in Retry-After.'
    const body = { error: { code: 'SERVICE_UNAVAILABLE', message } }
    const asked: string[][] = []
    const respond = async (request: HTTPRequest): Promise<void> => {
      // The notes are asked for with GET.
      if (request.method() !== 'POST') return request.continue()
      const sent = (await request.fetchPostData()) ?? '{}'
      const { queries } = JSON.parse(sent) as { queries: { id: string }[] }
      asked.push(queries.map(({ id }) => id))
      const lines = queries.map(
        ({ id }) => `${JSON.stringify({ id, status: 503, body, retry_after: 1 })}\n`,
      )
      if (asked.length > 1) await request.continue()
      else await request.respond({ headers: HEADERS, body: lines.join('') })
    }
    page.on('request', (request) => void respond(request))
    await page.locator('.card[data-metric=visits]').click()
    await page.waitForSelector('section.chart .failure')
    expect(await readText(page, '.failure')).toBe(
      'The service is busy. Try again in 1 second. Try again',
    )
    await page.locator('section.chart .failure button').click()
    await page.waitForFunction(`document.querySelector('.failure, .old') === null`)
    expect(asked).toEqual([['chart'], ['chart']])
    await close()
  })

  test('what several parts fail with is said once', async () => {
    const { page, close } = await openExplorer(started().browser, started().service)
    await page.setRequestInterception(true)
    const body = { error: { code: 'SERVICE_UNAVAILABLE', message: 'The store is away.' } }
    const respond = async (request: HTTPRequest): Promise<void> => {
      const sent = (await request.fetchPostData()) ?? '{}'
      const { queries } = JSON.parse(sent) as { queries: { id: string }[] }
      const lines = queries.map(({ id }) => `${JSON.stringify({ id, status: 503, body })}\n`)
      await request.respond({ headers: HEADERS, body: lines.join('') })
    }
    page.on('request', (request) => void respond(request))
    await page.locator('[aria-label="The period before"]').click()
    await page.waitForSelector('.failure')
    expect(await readTexts(page, '[role=alert]')).toEqual(['The store is away. Try again'])
    expect((await readTexts(page, 'section > .empty')).length).toBeGreaterThan(5)
    await close()
  })
})
