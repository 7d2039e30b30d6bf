/**
 * Measures the explorer in Chromium, on the demo: how soon its numbers are painted, and how long a change of its state takes; with
 * answers that the service has to find, and with answers that it knows.
 */
import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'puppeteer-core'
import { packagePath } from '../../src/lib/package-path.js'
import { startChromium } from '../../test/integration/browser/find-chromium.js'
import { withDemoService, type DemoService } from '../shared/demo-service.js'
import {
  formatTenths,
  formatWhole,
  printMachine,
  printTable,
  summarize,
} from '../shared/figures.js'

const RUNS = Number(process.env['RUNS'] ?? 20)

/** Notes when the first number and all numbers are painted. Runs in the page, before its scripts. */
const NOTE_PAINTS = `
  const note = () => {
    window.firstPaint ??= document.querySelector('.card data') ? performance.now() : undefined
    window.lastPaint ??= document.querySelector('main[aria-busy="false"] .panel .rows') ? performance.now() : undefined
    requestAnimationFrame(note)
  }
  requestAnimationFrame(note)`

/** Goes to the period before, and returns the milliseconds until its numbers are painted. Runs in the page. */
const STEP = `new Promise((done) => {
  const begun = performance.now()
  document.querySelector('[aria-label="The period before"]').click()
  const look = () => {
    const isThere = document.querySelector('main').getAttribute('aria-busy') === 'false'
    if (isThere && !document.querySelector('.old')) done(performance.now() - begun)
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(() => requestAnimationFrame(look))
})`

interface Paints {
  readonly first: number
  readonly last: number
}

/** Opens the page in a tab with an empty cache, calls `work`, and closes the tab. */
async function withPage<T>(
  browser: Browser,
  { address, tokens }: DemoService,
  query: string,
  work: (page: Page, paints: Paints) => Promise<T>,
): Promise<T> {
  const context = await browser.createBrowserContext()
  try {
    const page = await context.newPage()
    await page.evaluateOnNewDocument(NOTE_PAINTS)
    await page.goto(`${address}/explore${query}#key=${tokens[0] ?? ''}`)
    await page.waitForFunction('window.lastPaint !== undefined')
    const first = (await page.evaluate('window.firstPaint')) as number
    const last = (await page.evaluate('window.lastPaint')) as number
    return await work(page, { first, last })
  } finally {
    await context.close()
  }
}

/** Measures paints of the same page again and again, so that the service can answer from its cache. */
async function measurePaints(browser: Browser, service: DemoService): Promise<readonly Paints[]> {
  const paints: Paints[] = []
  for (let i = 0; i <= RUNS; i++) {
    paints.push(await withPage(browser, service, '', (_page, one) => Promise.resolve(one)))
  }
  // The first starts the browser's processes.
  return paints.slice(1)
}

/** Measures changes: back by a week, as often as there are runs. */
const measureChanges = (browser: Browser, service: DemoService): Promise<readonly number[]> =>
  withPage(browser, service, '?period=7days', async (page) => {
    const times: number[] = []
    for (let i = 0; i < RUNS; i++) times.push((await page.evaluate(STEP)) as number)
    return times
  })

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
    await withDemoService(1, { CACHE_MB: megabytes }, async (service) => {
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
