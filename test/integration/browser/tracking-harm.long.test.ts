/** The tracking script where it is used wrongly, or is not wanted: the page never suffers. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { describeInBrowser } from './chromium.js'
import { ODD_CALLS } from './odd-calls.js'
import { event, html, scriptTag, sent, startWeb, TOKEN, visit, type Web } from './visit.js'
import type { SentEvent } from './web.js'

describeInBrowser('the tracking script', () => {
  let web: Web
  let start: string
  beforeAll(async () => {
    web = await startWeb()
    start = `${web.site.url}/start`
  })
  afterAll(() => web.close())

  /** What is sent by a page that does this when the script is there; the page must not fail. */
  async function sentBy(code: string, count: number): Promise<SentEvent[]> {
    let events: SentEvent[] = []
    await visit(web, start, {}, async (page) => {
      await page.evaluate(`{ ${code} }`)
      events = await sent(page, web.collector, count)
    })
    return events
  }

  test.each(ODD_CALLS)('$why', async ({ call, want }) => {
    web.site.pages.set('/start', html(scriptTag(web.collector)))
    const events = await sentBy(`${call}; tally('after')`, want === undefined ? 2 : 3)
    const names = [{ name: 'pageview' }, ...(want === undefined ? [] : [want]), { name: 'after' }]
    expect(events).toStrictEqual(names.map((fields) => event({ url: start, ...fields })))
  })

  test('a thousand events at once: all arrive, in requests that are not too long', async () => {
    const { site, collector } = web
    site.pages.set('/start', html(scriptTag(collector)))
    const events = await sentBy(`for (let i = 0; i < 1000; i++) tally('e' + i)`, 1001)
    expect(new Set(events.map(({ name }) => name)).size).toBe(1001)
    expect(Math.max(...collector.received.map(({ body }) => body.length))).toBeLessThan(16_384)
  })

  test('a strict policy of the page that allows it is enough', async () => {
    const { site, collector } = web
    const { url } = collector
    const policy = `default-src 'none'; script-src ${url}; connect-src ${url}; require-trusted-types-for 'script'`
    const headers = {
      'Content-Security-Policy': policy,
      'Cross-Origin-Embedder-Policy': 'require-corp',
    }
    site.pages.set('/start', { ...html(scriptTag(collector, 'crossorigin')), headers })
    await visit(web, start, {}, async (page) => {
      await page.evaluate(`tally('signup')`)
      expect(await sent(page, collector, 2)).toStrictEqual([
        event({ name: 'pageview', url: start }),
        event({ name: 'signup', url: start }),
      ])
    })
  })

  test('a policy that forbids sending: nothing arrives, and nothing breaks', async () => {
    const { site, collector } = web
    const headers = { 'Content-Security-Policy': `default-src 'none'; script-src ${collector.url}` }
    site.pages.set('/start', { ...html(scriptTag(collector)), headers })
    await visit(web, start, {}, async (page) => {
      expect(await page.evaluate(`tally('signup'); typeof tally`)).toBe('function')
      await page.waitForNetworkIdle({ idleTime: 100 })
      expect(collector.received).toEqual([])
    })
  })

  test('a page that has frozen its history: the script does what it can', async () => {
    const { site, collector } = web
    const freeze = '<script>Object.freeze(history)</script>'
    site.pages.set('/start', html(freeze + scriptTag(collector)))
    await visit(web, start, {}, async (page) => {
      await page.evaluate(`history.pushState({}, '', '/next'); tally('signup')`)
      expect(await sent(page, collector, 2)).toStrictEqual([
        event({ name: 'pageview', url: start }),
        event({ name: 'signup', url: start.replace('/start', '/next') }),
      ])
    })
  })

  test('data-endpoint: another address', async () => {
    const { site, collector } = web
    const attribute = `data-endpoint="${collector.url}/elsewhere?x=1"`
    site.pages.set('/start', html(scriptTag(collector, attribute)))
    await visit(web, start, {}, async (page) => {
      await sent(page, collector, 1)
      expect(collector.received.map(({ path }) => path)).toEqual(['/elsewhere', '/last'])
    })
  })

  test('on the origin of the collector itself', async () => {
    const { collector } = web
    const own = `const tag = document.createElement('script')
      tag.src = '/tally.js'; tag.dataset.token = '${TOKEN}'; document.head.append(tag)
      new Promise((resolve) => { tag.onload = resolve })`
    await visit(web, `${collector.url}/tally.js`, {}, async (page) => {
      await page.evaluate(own)
      expect(await sent(page, collector, 1)).toStrictEqual([
        event({ name: 'pageview', url: `${collector.url}/tally.js` }),
      ])
    })
  })

  test('an address with a password is sent without it', async () => {
    const { site, collector } = web
    site.pages.set('/start', html(scriptTag(collector)))
    await visit(web, start.replace('//', '//user:secret@'), {}, async (page) => {
      expect(await sent(page, collector, 1)).toStrictEqual([
        event({ name: 'pageview', url: start }),
      ])
    })
  })
})
