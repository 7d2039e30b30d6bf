/** What the tracking script measures of pageviews in a real browser, where a page asks for it: web vitals and engagement. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'puppeteer-core'
import { describeInBrowser } from './chromium.js'
import { event, html, scriptTag, sent, startWeb, visit, type Web } from './visit.js'
import type { SentEvent, WebPage } from './web.js'

/** A page of some screens. Its button keeps the browser busy, and what is on the page moves down once. */
const BODY = `
  <div id="above"></div><h1>A heading</h1><button>Work</button><p style="height: 4000px">A long page</p>
  <script>
    document.querySelector('button').addEventListener('click', () => {
      for (const end = performance.now() + 60; performance.now() < end; );
    })
    setTimeout(() => { document.querySelector('#above').style.height = '200px' }, 200)
  </script>`

const OK = 'in its range'
/** What each number may be: times are those of a busy machine. The window shows 600 of about 4,300 pixels. */
const RANGES: Readonly<Record<string, readonly [least: number, most: number]>> = {
  lcp: [1, 120_000],
  fcp: [1, 120_000],
  ttfb: [0, 120_000],
  inp: [56, 120_000],
  cls: [0.0001, 5],
  engaged_seconds: [0.1, 120],
  scroll_percent: [10, 20],
}
const UNTOUCHED = { lcp: OK, fcp: OK, ttfb: OK, cls: OK }
const ENGAGED = { engaged_seconds: OK, scroll_percent: OK }

/** Replaces each measured number that lies in its range. */
const checkRanges = (events: readonly SentEvent[]): readonly SentEvent[] =>
  events.map((one) => {
    if (one.name !== 'pageleave') return one
    const entries = Object.entries(one['properties'] as Record<string, number>)
    const checked = entries.map(([name, value]) => {
      const [least, most] = RANGES[name] ?? [1, 0]
      return [name, value >= least && value <= most ? OK : value]
    })
    return { ...one, properties: Object.fromEntries(checked) as unknown }
  })

/** Hides the page, or shows it again, as when another tab is chosen. */
const turn = (state: 'hidden' | 'visible'): string => `{
  Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
  document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
}`

/** Waits for a click to be measured. The browser tells observers some time after the next paint, the script before this one. */
const WATCH_CLICKS = `window.clicked = new Promise((resolve) => {
  new PerformanceObserver((list) => {
    if (list.getEntries().some(({ name }) => name === 'click')) resolve()
  }).observe({ type: 'event', durationThreshold: 16 })
})
undefined`

describeInBrowser('a page that asks for what its pageviews measure', () => {
  let web: Web
  let start: string
  let next: string
  beforeAll(async () => {
    web = await startWeb()
    ;[start, next] = [`${web.site.url}/start`, `${web.site.url}/next`]
    web.site.pages.set('/next', html(scriptTag(web.collector)))
  })
  afterAll(() => web.close())

  /** Opens the page with these attributes, and waits until it measures, and has moved. */
  async function open(
    attributes: string,
    use: (page: Page) => Promise<void>,
    { before = '', headers = {} }: { before?: string } & Pick<WebPage, 'headers'> = {},
  ): Promise<void> {
    const page = html(scriptTag(web.collector, attributes), BODY)
    web.site.pages.set('/start', { ...page, headers })
    await visit(web, start, { before }, async (page) => {
      await page.waitForFunction(
        `window.tally?.q.end && document.querySelector('#above').style.height`,
      )
      // What was painted is told to observers in a later task, and what is engaged takes some time.
      await page.evaluate(
        `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 600))))`,
      )
      await use(page)
    })
  }

  const leave = async (page: Page): Promise<void> => {
    await Promise.all([page.waitForNavigation(), page.evaluate(`location.href = '/next'`)])
  }
  const pageleave = (properties: object, url = start): object =>
    event({ name: 'pageleave', url, properties })
  const pageview = (url = start): object => event({ name: 'pageview', url })

  test.each([
    ['data-vitals', 'tally-vitals.js', UNTOUCHED],
    ['data-engagement', 'tally-engagement.js', ENGAGED],
    ['data-vitals data-engagement', 'tally-vitals.js', { ...UNTOUCHED, ...ENGAGED }],
  ])('%s: one event when it is left, by %s', async (attributes, script, properties) => {
    await open(attributes, async (page) => {
      expect(
        await page.evaluate(
          `performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.includes('tally'))`,
        ),
      ).toEqual(['tally.js', script].map((name) => `${web.collector.url}/${name}`))
      await leave(page)
      expect(checkRanges(await sent(page, web.collector, 3))).toStrictEqual([
        pageview(),
        pageleave(properties),
        event({ name: 'pageview', url: next, referrer_url: start }),
      ])
    })
  })

  test('what is pressed has an INP, and what is scrolled to counts', async () => {
    await open('data-vitals data-engagement', async (page) => {
      await page.evaluate(WATCH_CLICKS)
      await page.click('button')
      await page.evaluate('window.clicked')
      await page.evaluate(
        `new Promise((resolve) => {
          addEventListener('scroll', () => requestAnimationFrame(() => requestAnimationFrame(resolve)), { once: true })
          scrollTo(0, 10_000)
        }).then(() => scrollTo(0, 0))`,
      )
      await leave(page)
      const [, left] = checkRanges(await sent(page, web.collector, 3))
      expect(left).toStrictEqual(
        pageleave({ ...UNTOUCHED, inp: OK, engaged_seconds: OK, scroll_percent: 100 }),
      )
    })
  })

  test('in a single-page app each pageview ends with an event of its own page; vitals are those of the load', async () => {
    await open('data-vitals data-engagement', async (page) => {
      await page.evaluate(`history.pushState({}, '', '/b')`)
      await page.evaluate(`new Promise((resolve) => setTimeout(resolve, 700))`)
      await page.evaluate(`history.pushState({}, '', '/c')`)
      const [b, c] = [`${web.site.url}/b`, `${web.site.url}/c`]
      expect(checkRanges(await sent(page, web.collector, 5))).toStrictEqual([
        pageview(),
        pageleave({ ...UNTOUCHED, ...ENGAGED }),
        pageview(b),
        pageleave(ENGAGED, b),
        pageview(c),
      ])
    })
  })

  test('in a single-page app with data-vitals alone, only the first pageview ends with an event', async () => {
    await open('data-vitals', async (page) => {
      await page.evaluate(`history.pushState({}, '', '/b')`)
      await page.evaluate(`history.pushState({}, '', '/c')`)
      const events = checkRanges(await sent(page, web.collector, 4))
      expect(events.map(({ name }) => name)).toEqual([
        'pageview',
        'pageleave',
        'pageview',
        'pageview',
      ])
    })
  })

  test('a page that is hidden, shown and hidden again has one event; time in the background does not count', async () => {
    await open('data-engagement', async (page) => {
      await page.evaluate(turn('hidden'))
      await web.collector.until((events) => events.length === 2)
      await page.evaluate(turn('visible'))
      await page.evaluate(turn('hidden'))
      await page.evaluate(`tally('pageview')`)
      await page.evaluate(`new Promise((resolve) => setTimeout(resolve, 700))`)
      await page.evaluate(`tally('pageview')`)
      expect(checkRanges(await sent(page, web.collector, 5))).toStrictEqual([
        pageview(),
        pageleave(ENGAGED),
        pageview(),
        pageleave({ engaged_seconds: 0, scroll_percent: OK }),
        pageview(),
      ])
    })
  })

  test('a page restored from the back/forward cache is another pageview, with vitals', async () => {
    await open('data-vitals data-engagement', async (page) => {
      await leave(page)
      await page.evaluate('history.back()')
      await web.collector.until((events) => events.length === 4)
      await page.waitForFunction(`location.pathname === '/start'`)
      await page.evaluate(`new Promise((resolve) => setTimeout(resolve, 700))`)
      await leave(page)
      const events = checkRanges(await sent(page, web.collector, 6))
      expect(events[4]).toStrictEqual(pageleave({ ...UNTOUCHED, cls: 0, ...ENGAGED }))
    })
  })

  const LATER = `{
    const setTimer = setTimeout
    window.setTimeout = (run, ms) => (ms > 60_000 ? (window.longest = [ms, run]) : setTimer(run, ms))
  }`

  test('a pageview ends after 29 minutes at the latest, within its visit', async () => {
    const use = async (page: Page): Promise<void> => {
      expect(await page.evaluate('longest[0]')).toBe(29 * 60_000)
      await page.evaluate('longest[1]()')
      await web.collector.until((events) => events.length === 2)
      await leave(page)
      expect(checkRanges(await sent(page, web.collector, 3))).toStrictEqual([
        pageview(),
        pageleave(ENGAGED),
        event({ name: 'pageview', url: next, referrer_url: start }),
      ])
    }
    await open('data-engagement', use, { before: LATER })
  })

  test('what a computer measured that has slept for half an hour is not sent', async () => {
    await open('data-engagement', async (page) => {
      await page.evaluate(`{ const now = Date.now(); Date.now = () => now + 31 * 60_000 }`)
      await leave(page)
      const names = (await sent(page, web.collector, 2)).map(({ name }) => name)
      expect(names).toEqual(['pageview', 'pageview'])
    })
  })

  test('without a pageview there is none that ends; the first one by hand has the vitals', async () => {
    await open('data-manual data-vitals', async (page) => {
      await page.evaluate(turn('hidden'))
      await page.evaluate(turn('visible'))
      await page.evaluate(`tally('pageview')`)
      await page.evaluate(turn('hidden'))
      const [view, left, ...others] = await sent(page, web.collector, 2)
      expect([view, others]).toStrictEqual([pageview(), []])
      expect(checkRanges([left!])).toStrictEqual([pageleave(UNTOUCHED)])
    })
  })

  test('a policy that allows the script by a nonce allows what it loads', async () => {
    const policy = `script-src 'nonce-a1' 'sha256-none'; connect-src ${web.collector.url}`
    const script = scriptTag(web.collector, 'nonce="a1" data-engagement')
    web.site.pages.set('/start', {
      ...html(script),
      headers: { 'Content-Security-Policy': policy },
    })
    await visit(web, start, {}, async (page) => {
      await page.waitForFunction('window.tally?.q.end', { polling: 50 })
      await leave(page)
      const names = (await sent(page, web.collector, 3)).map(({ name }) => name)
      expect(names).toEqual(['pageview', 'pageleave', 'pageview'])
    })
  })
})
