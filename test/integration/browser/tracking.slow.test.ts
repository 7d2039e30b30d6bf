/** The tracking script in a real browser: the events that are sent for actions on a page. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'puppeteer-core'
import { describeInBrowser } from './chromium.js'
import { CASES } from './tracking-cases.js'
import { event, html, scriptTag, sent, startWeb, TOKEN, visit, type Web } from './visit.js'

describeInBrowser('the tracking script', () => {
  let web: Web
  beforeAll(async () => {
    web = await startWeb()
  })
  afterAll(() => web.close())

  test.each(CASES)('$why', async ({ attributes, head = '', want, then = [], ...options }) => {
    const { site, collector } = web
    const first = head.replaceAll('COLLECTOR', collector.url)
    site.pages.set('/start', html(first + scriptTag(collector, attributes)))
    await visit(web, `${site.url}/start`, options, async (page) => {
      await runInTurn(page, then)
      const events = await sent(page, collector, want.length)
      expect(events).toStrictEqual(
        want.map(({ at = '/start', ...fields }) => event({ url: site.url + at, ...fields })),
      )
    })
  })

  test('a request has its whole body, as plain text to /v1/events, without a preflight', async () => {
    const { site, collector } = web
    site.pages.set('/start', html(scriptTag(collector)))
    await visit(web, `${site.url}/start`, {}, async (page) => {
      await page.evaluate(`tally('a', { b: 'c' }); tally('d')`)
      await collector.until((events) => events.length === 3)
      const url = `${site.url}/start`
      const requests = collector.received.map(({ method, path, headers, body }) => ({
        as: [method, path, headers['content-type'], headers.cookie],
        body: JSON.parse(body) as unknown,
      }))
      const as = ['POST', '/v1/events', 'text/plain;charset=UTF-8', undefined]
      expect(requests).toStrictEqual([
        { as, body: { token: TOKEN, events: [event({ name: 'pageview', url })] } },
        {
          as,
          body: {
            token: TOKEN,
            events: [event({ name: 'a', url, properties: { b: 'c' } }), event({ name: 'd', url })],
          },
        },
      ])
      expect(new Set(collector.events().map(({ event_id }) => event_id)).size).toBe(3)
    })
  })
})

/** Runs the steps in turn. Each is finished, with its events of the history, before the next one. */
async function runInTurn(page: Page, steps: readonly string[]): Promise<void> {
  for (const step of steps) {
    const moves = /history\.(back|forward)/.test(step)
    await page.evaluate(
      moves
        ? `new Promise((resolve) => { addEventListener('popstate', resolve, { once: true }); ${step} })`
        : `{ ${step} }`,
    )
  }
}
