/**
 * Measures the explorer in Chromium, on the demo: how soon its numbers are painted, and how long a change of its state takes; with
 * answers that the service has to find, and with answers that it knows. DATA_DIR: a folder that `make bench` has filled, to measure
 * twelve months of its large project instead.
 */
import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'puppeteer-core'
import { packagePath } from '../../src/lib/package-path.js'
import { startChromium } from '../../test/integration/browser/find-chromium.js'
import { openBenchStore } from '../shared/data-folder.js'
import { withDemoService } from '../shared/demo-service.js'
import {
  formatTenths,
  formatWhole,
  printMachine,
  printTable,
  summarize,
} from '../shared/figures.js'
import { issueToken, startServiceProcess } from '../shared/service.js'
import { LARGE } from './generate.js'

const { DATA_DIR } = process.env
/** What the tab shows at first; the demo's page needs no query. */
const FIRST = DATA_DIR === undefined ? '' : '?period=2025-01-01..2025-12-31'
/** Periods with a longer history, to go back in. */
const STEPPED = DATA_DIR === undefined ? '?period=7days' : '?period=2025-12-25..2025-12-31'
const RUNS = Number(process.env['RUNS'] ?? 20)

/** Notes when the first number and all numbers are painted. Runs in the page, before its scripts. */
const NOTE_PAINTS = `
  const note = () => {
    window.firstPaint ??= document.querySelector('.card data') ? performance.now() : undefined
    window.lastPaint ??= document.querySelector('main[aria-busy="false"] .panel .rows') ? performance.now() : undefined
    requestAnimationFrame(note)
  }
  requestAnimationFrame(note)`

/** Writes a script that does something in the page, and returns the milliseconds until the page shows the new numbers. */
function measureAction(action: string): string {
  return `new Promise((done) => {
  const begun = performance.now()
  ${action}
  const look = () => {
    const isThere = document.querySelector('main').getAttribute('aria-busy') === 'false'
    if (isThere && !document.querySelector('.old')) done(performance.now() - begun)
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(() => requestAnimationFrame(look))
})`
}

const STEP = measureAction(`document.querySelector('[aria-label="The period before"]').click()`)

/** A running service, and a key of the project that is looked at. */
interface Explored {
  readonly address: string
  readonly token: string
}

interface Paints {
  readonly first: number
  readonly last: number
}

/** How long a new window of Chromium loads parts of its own, which people have before they open a page. */
const WINDOW_MS = 3_000
/** How long the engine merges what has just been loaded. */
const MERGES_MS = 60_000

/** Opens the page in a window with an empty cache, calls `work`, and closes the window. */
async function withPage<T>(
  browser: Browser,
  { address, token }: Explored,
  query: string,
  work: (page: Page, paints: Paints) => Promise<T>,
): Promise<T> {
  const context = await browser.createBrowserContext()
  try {
    const page = await context.newPage()
    await setTimeout(WINDOW_MS)
    await page.evaluateOnNewDocument(NOTE_PAINTS)
    await page.goto(`${address}/explore${query}#key=${token}`)
    await page.waitForFunction('window.lastPaint !== undefined')
    const first = (await page.evaluate('window.firstPaint')) as number
    const last = (await page.evaluate('window.lastPaint')) as number
    return await work(page, { first, last })
  } finally {
    await context.close()
  }
}

/** Measures paints of the same page again and again, so that the service can answer from its cache. */
async function measurePaints(browser: Browser, service: Explored): Promise<readonly Paints[]> {
  const paints: Paints[] = []
  for (let i = 0; i <= RUNS; i++) {
    paints.push(await withPage(browser, service, FIRST, (_page, one) => Promise.resolve(one)))
  }
  // The first starts the browser's processes.
  return paints.slice(1)
}

/** Measures changes: back by a week, as often as there are runs. */
const measureChanges = (browser: Browser, service: Explored): Promise<readonly number[]> =>
  withPage(browser, service, STEPPED, async (page) => {
    const times: number[] = []
    for (let i = 0; i < RUNS; i++) times.push((await page.evaluate(STEP)) as number)
    return times
  })

/** Measures clicks on each country and each browser that the first page lists. Each click filters all panels. */
const measureClicks = (browser: Browser, service: Explored): Promise<readonly number[]> =>
  withPage(browser, service, FIRST, async (page) => {
    const times: number[] = []
    for (const panel of ['places', 'devices']) {
      const buttons = `[data-panel=${panel}] tr[data-value] button`
      const count = (await page.$$(buttons)).length
      for (let i = 0; i < count; i++) {
        const click = `document.querySelectorAll('${buttons}')[${i}].click()`
        times.push((await page.evaluate(measureAction(click))) as number)
        await page.evaluate(measureAction('history.back()'))
      }
    }
    return times
  })

/** Calls `work` with the service, on the demo or on the large project. */
async function withService(
  env: Readonly<Record<string, string>>,
  work: (service: Explored) => Promise<void>,
): Promise<void> {
  if (DATA_DIR === undefined) {
    return withDemoService(1, env, async ({ address, tokens: [token = ''] }) => {
      await setTimeout(MERGES_MS)
      await work({ address, token })
    })
  }
  const opened = await openBenchStore(DATA_DIR)
  const token = await issueToken(opened.store, DATA_DIR, LARGE, new Date()).finally(() =>
    opened.close(),
  )
  const service = await startServiceProcess(DATA_DIR, env)
  try {
    await work({ address: service.address, token })
  } finally {
    await service.stop()
  }
}

const lines: string[][] = []
const add = (what: string, times: readonly number[]): void => {
  const { median, p95 } = summarize(times)
  lines.push([what, formatWhole(median), formatWhole(p95)])
}
const browser = await startChromium()
try {
  for (const [megabytes, how] of [
    ['0', 'without the cache'],
    ['64', 'from the cache'],
  ] as const) {
    await withService({ CACHE_MB: megabytes }, async (service) => {
      const paints = await measurePaints(browser, service)
      add(
        `first numbers, ${how}`,
        paints.map(({ first }) => first),
      )
      add(
        `all numbers, ${how}`,
        paints.map(({ last }) => last),
      )
      // Another tab asks the same questions first.
      if (megabytes !== '0') await measureChanges(browser, service)
      add(`a change of the period, ${how}`, await measureChanges(browser, service))
      if (megabytes !== '0') await measureClicks(browser, service)
      add(`a click on a value, ${how}`, await measureClicks(browser, service))
    })
  }
} finally {
  await browser.close()
}
await printMachine(new Date())
printTable(['ms', 'median', 'p95'], lines)
const files = ['explorer.html', 'explorer.js', 'explorer.css']
const texts = files.map((file) => readFile(packagePath(`dist/http/site/browser/${file}`)))
const size = (await Promise.all(texts)).reduce((sum, text) => sum + gzipSync(text).length, 0)
console.log(`page, script and style sheet: ${formatTenths(size / 1000)} kB compressed`)
