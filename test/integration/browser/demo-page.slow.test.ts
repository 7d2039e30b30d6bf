/** The demo shop in a real browser: its pages, the events that it sends, and its requests. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'puppeteer-core'
import { createDemoRouter } from '../../../src/http/site/demo-page.js'
import { describeInBrowser } from './chromium.js'
import { event, startWeb, TOKEN, visit, type Web } from './visit.js'

describeInBrowser("the demo's shop", () => {
  let web: Web
  let shop: string
  beforeAll(async () => {
    web = await startWeb(createDemoRouter(TOKEN))
    shop = web.collector.url
  })
  afterAll(() => web.close())

  /** Clicks links and buttons one after the other. Each sends some events. */
  async function press(page: Page, steps: readonly (readonly [string, number])[]): Promise<void> {
    for (const [selector, more] of steps) {
      const soFar = web.collector.events().length
      await page.click(selector)
      await web.collector.until((events) => events.length === soFar + more)
    }
  }

  test('a purchase: the page lists the sent events, the latest first', async () => {
    const { collector } = web
    await visit(web, `${shop}/demo`, {}, async (page) => {
      await collector.until((events) => events.length === 1)
      await press(page, [
        ['a[href="/demo/products/rain-shell"]', 1],
        ['section:not([hidden]) button', 1],
        ['a[href="/demo/cart"]', 1],
        ['#buy', 2],
      ])
      const item = { product: 'rain-shell', category: 'jackets' }
      const sale = { ...item, items: 1, amount: 189, currency: 'EUR' }
      const at = (path: string): object => ({ url: `${shop}${path}` })
      expect(collector.events()).toStrictEqual([
        event({ name: 'pageview', ...at('/demo') }),
        event({ name: 'pageview', ...at('/demo/products/rain-shell') }),
        event({ name: 'add_to_cart', ...at('/demo/products/rain-shell'), properties: item }),
        event({ name: 'pageview', ...at('/demo/cart') }),
        event({ name: 'pageview', ...at('/demo/thanks') }),
        event({ name: 'purchase', ...at('/demo/thanks'), properties: sale }),
      ])
      expect(collector.received.every(({ body }) => body.includes(`"token":"${TOKEN}"`))).toBe(true)
      expect(await readTexts(page, '#sent strong')).toEqual(
        collector
          .events()
          .map(({ name }) => name)
          .reverse(),
      )
    })
  })

  test('every page has its own address, and opens at that address and by going back', async () => {
    const { collector } = web
    await visit(web, `${shop}/demo/products/merino-tee`, {}, async (page) => {
      expect(await readHeading(page)).toEqual(['Merino tee', 'Merino tee - Demo shop'])
      await collector.until((events) => events.length === 1)
      await press(page, [['a.name', 1]])
      expect(await readHeading(page)).toEqual(['Out and about', 'Out and about - Demo shop'])
      await page.evaluate('history.back()')
      await collector.until((events) => events.length === 3)
      expect(await readHeading(page)).toEqual(['Merino tee', 'Merino tee - Demo shop'])
    })
    expect((await fetch(`${shop}/demo/products/none`)).status).toBe(404)
  })

  test('the query to paste is about this origin, and contains no key', async () => {
    await visit(web, `${shop}/demo`, {}, async (page) => {
      const [query] = await readTexts(page, '#query')
      expect(query).toContain(`curl -s \\\n  ${shop}/v1/analytics/query \\\n`)
      expect(query).toContain('-H "Authorization: Bearer $KEY"')
      expect(JSON.parse(/-d '([^']+)'/.exec(query!)![1]!)).toEqual({
        date_range: 'today',
        metrics: ['pageviews', 'events'],
        group_by: ['page:path'],
        filters: [{ type: 'page', origin: { operator: 'eq', value: shop } }],
      })
    })
  })

  test.each([375, 1280])(
    'nothing is cut off, and nothing refused, %d pixels wide',
    async (width) => {
      await visit(web, 'about:blank', {}, async (page) => {
        const troubles: string[] = []
        page.on('console', (message) => troubles.push(message.text()))
        await page.setViewport({ width, height: 800 })
        for (const path of ['/demo', '/demo/products/two-person-tent', '/demo/cart']) {
          await page.goto(shop + path)
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
        }
        // The icon is served with the docs, which this server does not have.
        expect(troubles.filter((text) => !text.includes('404'))).toEqual([])
      })
    },
  )

  test('it loads nothing from other origins, and has no inline scripts', async () => {
    const response = await fetch(`${shop}/demo`)
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(await response.text()).not.toMatch(/<script>|<style|\son\w+=|style=|(src|href)="http/)
  })
})

const readTexts = async (page: Page, selector: string): Promise<readonly string[]> =>
  (await page.evaluate(
    `[...document.querySelectorAll('${selector}')].map((node) => node.textContent)`,
  )) as readonly string[]

/** Returns the visible heading and the title. */
const readHeading = async (page: Page): Promise<unknown> => [
  await page.evaluate(
    `[...document.querySelectorAll('h1')].find((node) => node.offsetHeight).textContent`,
  ),
  await page.title(),
]
