/** A public dashboard in a frame of another page, in a real browser: it shows its numbers where the project allows it, and nowhere else. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'puppeteer-core'
import { createWorld } from '../../../support/world/world.js'
import { listen } from '../web.js'
import { describeExplorer } from './describe-explorer.js'

/** A page that shows another one in a frame. The query of its own address says which. */
const HOST_PAGE = `<!doctype html><title>Host</title><iframe width="800" height="600"></iframe>
<script>document.querySelector('iframe').src = new URLSearchParams(location.search).get('frame')</script>`

const USERS = '.card[data-metric=users] data'

/** Starts a site with the page. Returns its origin, and what stops it. */
async function startHost() {
  const site = await listen((_request, response) => {
    response.setHeader('Content-Type', 'text/html').end(HOST_PAGE)
  })
  // To the browser, this is another site than 127.0.0.1, where the service is. It finds it there all the same.
  return { ...site, origin: site.url.replace('127.0.0.1', 'localhost') }
}
type Host = Awaited<ReturnType<typeof startHost>>

/** As in a browser that keeps nothing for frames of other sites. */
const REFUSE_STORAGE = `if (window !== top) for (const name of ['localStorage', 'sessionStorage']) {
  Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError') } })
}`

describeExplorer('a page in a frame', (started) => {
  let allowed: Host
  let other: Host

  beforeAll(async () => {
    ;[allowed, other] = await Promise.all([startHost(), startHost()])
    const event = { timestamp: '2026-02-20T10:00:00Z', user_id: 'a', path: '/' }
    const { store } = started().service
    const fields = { hasPublicDashboard: true }
    await createWorld(store, [event], {
      ...fields,
      id: 'framed',
      embedOrigins: ['https://intranet.example', allowed.origin],
    })
    await createWorld(store, [event], { ...fields, id: 'unframed' })
  })
  afterAll(async () => {
    await allowed.close()
    await other.close()
  })

  /** Opens a page of a host that shows a page of the service. Returns the users that the frame shows, or why it shows nothing. */
  async function readFrame(page: Page, host: Host, path: string): Promise<string | undefined> {
    const frameUrl = `${started().service.address}${path}?period=30days`
    const failures: (string | undefined)[] = []
    page.on('requestfailed', (request) => {
      if (request.url() === frameUrl) failures.push(request.failure()?.errorText)
    })
    await page.goto(`${host.origin}/?frame=${encodeURIComponent(frameUrl)}`)
    await page.waitForNetworkIdle()
    if (failures.length > 0) return failures[0]
    const frame = page.frames().find((one) => one.url() === frameUrl)
    await frame?.waitForSelector(USERS)
    return (
      frame && ((await frame.evaluate(`document.querySelector('${USERS}').textContent`)) as string)
    )
  }

  test.each([
    ['by an allowed origin', () => allowed, '/share/framed', '1'],
    ['by another origin', () => other, '/share/framed', 'net::ERR_BLOCKED_BY_RESPONSE'],
    [
      'by an origin that another project allows',
      () => allowed,
      '/share/unframed',
      'net::ERR_BLOCKED_BY_RESPONSE',
    ],
    ['with a place for keys', () => allowed, '/explore', 'net::ERR_BLOCKED_BY_RESPONSE'],
  ])('%s', async (_name, getHost, path, expected) => {
    const context = await started().browser.createBrowserContext()
    const page = await context.newPage()
    expect(await readFrame(page, getHost(), path)).toBe(expected)
    await context.close()
  })

  test('in a browser that refuses storage to frames', async () => {
    const context = await started().browser.createBrowserContext()
    const page = await context.newPage()
    const errors: unknown[] = []
    page.on('pageerror', (error) => errors.push(error))
    await page.evaluateOnNewDocument(REFUSE_STORAGE)
    expect(await readFrame(page, allowed, '/share/framed')).toBe('1')
    await expect(page.frames()[1]?.evaluate('sessionStorage.length')).rejects.toThrow('denied')
    expect(errors).toEqual([])
    await context.close()
  })
})
