/** Refusals on the explorer in a real browser: what the service refuses is not asked again until the state changes. */
import { expect, test } from '@jest/globals'
import type { HTTPRequest } from 'puppeteer-core'
import { describeExplorer } from './describe-explorer.js'
import { openExplorer } from './explorer-page.js'
import { readText } from './read-page.js'

/** Keeps what the page repeats, so that a test says when its time has come. Runs in the page, before its scripts. */
const HOLD_REPEATS = `
  window.repeats = []
  window.setInterval = (call) => window.repeats.push(call)`

const REPEAT = `window.repeats.forEach((call) => call())`

const isBatch = (request: HTTPRequest): boolean => request.url().endsWith('/v1/analytics/batch')

/** The ids of all queries of some requests. */
async function listIds(requests: readonly HTTPRequest[]): Promise<readonly string[]> {
  const bodies = await Promise.all(
    requests.filter(isBatch).map((request) => request.fetchPostData()),
  )
  return bodies.flatMap((body) =>
    (
      JSON.parse(body ?? '') as { readonly queries: readonly { readonly id: string }[] }
    ).queries.map(({ id }) => id),
  )
}

describeExplorer('refusals on the explorer', (started) => {
  test('a value in several currencies is asked once, and again for another period', () =>
    started().explore('', async ({ page, act, takeRequests }) => {
      await page.evaluateOnNewDocument(HOLD_REPEATS)
      takeRequests()
      await act(() =>
        page.goto(
          `${started().service.address}/explore?period=2025-12-09..2025-12-20&compare=off&goal=paid`,
        ),
      )
      expect(await listIds(takeRequests())).toContain('value')
      await act(() => page.evaluate(REPEAT))
      expect(await listIds(takeRequests())).not.toContain('value')
      await act(() => page.click('[aria-label="The period after"]'))
      expect(await listIds(takeRequests())).toContain('value')
    }))

  test('a batch that is refused is sent once, and again for another period', async () => {
    const { browser, service } = started()
    const { page, takeRequests, close } = await openExplorer(browser, service)
    await page.evaluateOnNewDocument(HOLD_REPEATS)
    await page.setRequestInterception(true)
    page.on('request', (request) => {
      const error = { code: 'FORBIDDEN', message: 'The key may not read it.' }
      void (isBatch(request)
        ? request.respond({ status: 403, body: JSON.stringify({ error }) })
        : request.continue())
    })
    const countBatches = (): number => takeRequests().filter(isBatch).length
    const isRefused = `document.querySelector('main[aria-busy=false] > .failure') !== null`
    const see = async (action: () => Promise<unknown>): Promise<number> => {
      takeRequests()
      await action()
      await page.waitForNetworkIdle({ idleTime: 200 })
      await page.waitForFunction(isRefused)
      return countBatches()
    }
    const address = `${service.address}/explore?period=2026-02-01..2026-02-28`
    expect(await see(() => page.goto(address))).toBe(1)
    expect(await readText(page, '.failure')).toBe('The key may not read it. ')
    expect(await see(() => page.evaluate(REPEAT))).toBe(0)
    expect(await see(() => page.click('[aria-label="The period before"]'))).toBe(1)
    await close()
  })
})
