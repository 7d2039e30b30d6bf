/** The tracking script with wrong calls and hostile pages: it never breaks the page. */
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

  /** Runs a call in a page with the script, and returns the events that it sends. The page must not fail. */
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

  test('a thousand events at once arrive in requests within the size limit', async () => {
    const { site, collector } = web
    site.pages.set('/start', html(scriptTag(collector)))
    const events = await sentBy(`for (let i = 0; i < 1000; i++) tally('e' + i)`, 1001)
    expect(new Set(events.map(({ name }) => name)).size).toBe(1001)
    expect(Math.max(...collector.received.map(({ body }) => body.length))).toBeLessThan(16_384)
  })

  test('it works under a strict Content Security Policy that allows it', async () => {
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

  test('under a policy that forbids sending, nothing arrives and nothing breaks', async () => {
    const { site, collector } = web
    const headers = { 'Content-Security-Policy': `default-src 'none'; script-src ${collector.url}` }
    site.pages.set('/start', { ...html(scriptTag(collector)), headers })
    await visit(web, start, {}, async (page) => {
      expect(await page.evaluate(`tally('signup'); typeof tally`)).toBe('function')
      await page.waitForNetworkIdle({ idleTime: 100 })
      expect(collector.received).toEqual([])
    })
  })

  test('on a page with a frozen history, events are sent, but no pageview for a new address', async () => {
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

  test('data-endpoint: events are sent to another address', async () => {
    const { site, collector } = web
    const attribute = `data-endpoint="${collector.url}/elsewhere?x=1"`
    site.pages.set('/start', html(scriptTag(collector, attribute)))
    await visit(web, start, {}, async (page) => {
      await sent(page, collector, 1)
      expect(collector.received.map(({ path }) => path)).toEqual(['/elsewhere', '/last'])
    })
  })

  test('it works on the origin of the collector', async () => {
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

  test('a password in the address is not sent', async () => {
    const { site, collector } = web
    site.pages.set('/start', html(scriptTag(collector)))
    await visit(web, start.replace('//', '//user:secret@'), {}, async (page) => {
      expect(await sent(page, collector, 1)).toStrictEqual([
        event({ name: 'pageview', url: start }),
      ])
    })
  })
})
