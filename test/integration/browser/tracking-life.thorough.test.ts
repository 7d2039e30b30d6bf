/** The tracking script over the life of a page: leaving, the back/forward cache, prerendering, and stored data. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'puppeteer-core'
import { describeInBrowser } from './chromium.js'
import { event, html, scriptTag, sent, startWeb, visit, type Web } from './visit.js'
import type { SentEvent } from './web.js'

describeInBrowser('a page with the tracking script', () => {
  let web: Web
  let start: string
  let next: string
  beforeAll(async () => {
    web = await startWeb()
    ;[start, next] = [`${web.site.url}/start`, `${web.site.url}/next`]
  })
  afterAll(() => web.close())

  test.each([
    { why: 'by a link', how: `document.querySelector('a').click()` },
    { why: 'by its script', how: `location.href = '/next'` },
    {
      why: 'by its script, with one more event while it is hidden',
      how: `addEventListener('pagehide', () => tally('end')); location.href = '/next'`,
    },
  ])('an event arrives if the page is left right after it $why', async ({ how }) => {
    const { site, collector } = web
    site.pages.set('/start', html(scriptTag(collector), '<a href="/next">Next</a>'))
    site.pages.set('/next', html(scriptTag(collector)))
    const last = how.includes(`tally('end')`) ? [event({ name: 'end', url: start })] : []
    await visit(web, start, {}, async (page) => {
      await collector.until((events) => events.length === 1)
      await Promise.all([page.waitForNavigation(), page.evaluate(`tally('leave'); ${how}`)])
      const events = await sent(page, collector, 3 + last.length)
      expect(sortByPage(events)).toStrictEqual([
        event({ name: 'pageview', url: start }),
        event({ name: 'leave', url: start }),
        ...last,
        event({ name: 'pageview', url: next, referrer_url: start }),
      ])
    })
  })

  test('a page restored from the back/forward cache sends a pageview without a referrer', async () => {
    const { site, collector } = web
    const tell = `<script>
      addEventListener('pageshow', ({ persisted }) => tally('shown', { persisted }))
    </script>`
    site.pages.set('/start', html(scriptTag(collector) + tell))
    site.pages.set('/next', html(scriptTag(collector)))
    await visit(web, start, {}, async (page) => {
      await collector.until((events) => events.length === 2)
      await page.goto(next, { referer: start })
      await collector.until((events) => events.length === 3)
      await page.evaluate('history.back()')
      await collector.until((events) => events.length === 5)
      expect(collector.events()).toStrictEqual([
        event({ name: 'pageview', url: start }),
        event({ name: 'shown', url: start, properties: { persisted: false } }),
        event({ name: 'pageview', url: next, referrer_url: start }),
        event({ name: 'shown', url: start, properties: { persisted: true } }),
        event({ name: 'pageview', url: start }),
      ])
    })
  })

  test('a prerendered page sends its pageview when it is shown', async () => {
    const { site, collector } = web
    const ahead = JSON.stringify({ prerender: [{ urls: ['/next'], eagerness: 'immediate' }] })
    site.pages.set(
      '/start',
      html(
        `${scriptTag(collector)}<script type="speculationrules">${ahead}</script>`,
        '<a href="/next">Next</a>',
      ),
    )
    const tell = `<script>
      const wasAhead = document.prerendering
      addEventListener('load', () => {
        tally('loaded', { wasAhead })
        if (wasAhead) navigator.sendBeacon('${collector.url}/ready', '{"events":[{"name":"ready"}]}')
      })
    </script>`
    site.pages.set('/next', html(scriptTag(collector) + tell))
    await visit(web, start, {}, async (page) => {
      await collector.until((events) => events.some(({ name }) => name === 'ready'))
      expect(
        collector
          .events()
          .map(({ name }) => name)
          .sort(),
      ).toEqual(['pageview', 'ready'])
      await page.evaluate(`document.querySelector('a').click()`)
      await collector.until((events) => events.length === 4)
      expect(collector.events().slice(2)).toStrictEqual([
        event({ name: 'pageview', url: next, referrer_url: start }),
        event({ name: 'loaded', url: next, properties: { wasAhead: true } }),
      ])
    })
  })

  test('nothing is stored in the browser, and tally is the only global name', async () => {
    const { site, collector } = web
    site.pages.set('/start', html(''))
    let without: readonly string[] = []
    await visit(web, start, {}, async (page) => {
      without = await listGlobalNames(page)
    })
    site.pages.set('/start', html(scriptTag(collector)))
    await visit(web, start, {}, async (page) => {
      await page.evaluate(`tally('signup', { plan: 'pro' })`)
      await sent(page, collector, 2)
      expect((await listGlobalNames(page)).filter((name) => !without.includes(name))).toEqual([
        'tally',
      ])
      const stored = await page.evaluate(`Promise.all([indexedDB.databases(), caches.keys()]).then(
        ([databases, kept]) => ({
          cookie: document.cookie,
          local: localStorage.length,
          session: sessionStorage.length,
          databases,
          caches: kept,
          windowName: window.name,
        }),
      )`)
      const nothing = {
        cookie: '',
        local: 0,
        session: 0,
        databases: [],
        caches: [],
        windowName: '',
      }
      expect(stored).toEqual(nothing)
      expect(await page.browserContext().cookies()).toEqual([])
    })
  })
})

const listGlobalNames = async (page: Page): Promise<readonly string[]> =>
  (await page.evaluate('Object.getOwnPropertyNames(window)')) as readonly string[]

/** Sorts events by page, the first page first: requests of two pages may overtake each other, those of one may not. */
const sortByPage = (events: readonly SentEvent[]): readonly SentEvent[] => {
  const first = events[0]?.['url']
  return [
    ...events.filter(({ url }) => url === first),
    ...events.filter(({ url }) => url !== first),
  ]
}
