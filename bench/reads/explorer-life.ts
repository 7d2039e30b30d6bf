/**
 * Measures a tab of the explorer that stays open: what the page holds after hundreds of changes of its state, and while it is live. Each row
 * is read after a garbage collection, in the same state. CHANGES and MINUTES say how many and how long.
 */
import type { CDPSession, Page } from 'puppeteer-core'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../src/demo/random.js'
import { MINUTE_MS } from '../../src/lib/time.js'
import { startChromium } from '../../test/integration/browser/find-chromium.js'
import { withDemoService } from '../shared/demo-service.js'
import { formatTenths, printMachine, printTable } from '../shared/figures.js'

const CHANGES = Number(process.env['CHANGES'] ?? 500)
const MINUTES = Number(process.env['MINUTES'] ?? 60)
/** How many rows each part has. */
const ROWS = 10
const SEED = 7

/** What is clicked at random. Nothing of it leaves the page. */
const ENABLED = `':is(.card, .tabs button, tr[data-value] button, [aria-label^="The period"], [aria-label^=Remove]):enabled'`
const SETTLED = `document.querySelector('main').getAttribute('aria-busy') === 'false' && !document.querySelector('.old')`

/** Opens a link in the tab as the buttons Back and Forward do, and waits for its numbers. */
async function open(page: Page, query: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', '/explore${query}'); dispatchEvent(new PopStateEvent('popstate'))`,
  )
  await settle(page)
}

async function settle(page: Page): Promise<void> {
  await page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
  )
  await page.waitForFunction(SETTLED)
}

/** Reads what the page holds: megabytes of objects, and counts of nodes and listeners. */
async function readHeld(session: CDPSession): Promise<readonly string[]> {
  await session.send('HeapProfiler.collectGarbage')
  const { metrics } = await session.send('Performance.getMetrics')
  const read = (name: string): number => metrics.find((one) => one.name === name)?.value ?? NaN
  return [
    formatTenths(read('JSHeapUsedSize') / 1e6),
    ...['Nodes', 'JSEventListeners'].map((name) => String(read(name))),
  ]
}

/** Sends one pageview each second. */
async function sendEvents(address: string, token: string, signal: AbortSignal): Promise<void> {
  for (let n = 0; !signal.aborted; n += 1) {
    await fetch(`${address}/v1/events`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ user_id: `live-${n % 50}`, path: `/live/${n % 20}` }),
    })
    await sleep(1_000, undefined, { signal }).catch(() => undefined)
  }
}

const lines: string[][] = []
const browser = await startChromium()
try {
  await withDemoService(1, {}, async ({ address, tokens: [token = ''], publicToken }) => {
    const page = await browser.newPage()
    const session = await page.createCDPSession()
    await session.send('Performance.enable')
    let requests = 0
    let failures = 0
    page.on('request', () => (requests += 1))
    page.on('response', (response) => (failures += response.ok() ? 0 : 1))
    page.on('pageerror', () => (failures += 1))
    const note = async (when: string): Promise<void> => {
      lines.push([when, ...(await readHeld(session)), String(requests), String(failures)])
      console.log(...lines.at(-1)!)
      requests = 0
    }
    await page.goto(`${address}/explore#key=${token}`)
    await page.waitForSelector('main')
    await settle(page)
    const random = createRandom(SEED)
    for (let n = 0; n <= CHANGES; n += 1) {
      if (n % Math.ceil(CHANGES / ROWS) === 0) {
        await open(page, '')
        await note(`after ${n} changes`)
      }
      const count = (await page.evaluate(`document.querySelectorAll(${ENABLED}).length`)) as number
      await page.evaluate(`document.querySelectorAll(${ENABLED})[${random.below(count)}].click()`)
      await settle(page)
      if (n % 10 === 9) await open(page, '')
    }
    await open(page, '?period=now')
    const sending = new AbortController()
    const sent = sendEvents(address, publicToken, sending.signal)
    for (let n = 0; n <= ROWS; n += 1) {
      await note(`live for ${formatTenths((n * MINUTES) / ROWS)} minutes`)
      if (n < ROWS) await sleep((MINUTES * MINUTE_MS) / ROWS)
    }
    sending.abort()
    await sent
  })
} finally {
  await browser.close()
}
await printMachine(new Date())
printTable(['', 'MB of objects', 'nodes', 'listeners', 'requests since', 'failures'], lines)
