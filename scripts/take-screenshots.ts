/**
 * Takes the pictures of the explorer in the README and the docs: `npm run screenshots`. The demo that they show always ends at
 * the same moment, so pictures of the same page differ by the fonts of the machine alone.
 *
 * `npm run screenshots -- <link>` takes them of a running service; the link is what `tallyhouse open` prints.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Command } from 'commander'
import type { Browser, Page, Viewport } from 'puppeteer-core'
import { addDemo } from '../src/commands/demo.js'
import { readConfig } from '../src/config/config.js'
import { packagePath } from '../src/lib/package-path.js'
import { startChromium } from '../test/integration/browser/find-chromium.js'

/** A Friday afternoon after a launch. */
const NOW = new Date('2026-06-19T15:00:00Z')
const DAYS = 100

const FOLDER = packagePath('docs/images')
/** How long the page may take, on a machine that is busy. */
const TIMEOUT_MS = 30_000

interface Picture {
  /** Its file is named after it. */
  readonly name: string
  readonly viewport: Viewport
  readonly scheme?: 'light' | 'dark'
  readonly media?: 'print'
  /** Uses the page before the picture is taken. */
  readonly use?: (page: Page) => Promise<void>
}

const SCREEN = { width: 1200, height: 900 }
const PHONE = { width: 390, height: 844, isMobile: true, hasTouch: true }
/** The upper part of a sheet of A4, in CSS pixels. */
const SHEET = { width: 794, height: 960 }

const PICTURES: readonly Picture[] = [
  { name: 'light', viewport: SCREEN },
  { name: 'dark', viewport: SCREEN, scheme: 'dark' },
  { name: 'phone', viewport: PHONE, use: tapChart },
  // What a window of SCREEN shows at 200 %.
  { name: 'zoomed', viewport: { width: 600, height: 450, deviceScaleFactor: 2 } },
  { name: 'print', viewport: SHEET, media: 'print' },
  { name: 'keyboard', viewport: SCREEN, use: readChartByKeyboard },
]

/** Shows the numbers of the point in the middle of the chart. */
async function tapChart(page: Page): Promise<void> {
  const plot = await page.waitForSelector('.plot')
  await page.evaluate(`document.querySelector('.plot').scrollIntoView({ block: 'center' })`)
  await plot?.tap()
  await page.waitForSelector('.tip')
}

/** Shows the numbers of the last day but three. */
async function readChartByKeyboard(page: Page): Promise<void> {
  await page.focus('.plot')
  await page.keyboard.press('End')
  for (let steps = 0; steps < 3; steps++) await page.keyboard.press('ArrowLeft')
  await page.waitForSelector('.tip')
}

/** Runs the demo in this process, with its clock stopped. Returns the link that it prints, and a function that stops it. */
async function startDemo(): Promise<{ readonly link: string; stop(): Promise<void> }> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-screenshots-'))
  const program = new Command()
  const shown = new Promise<string>((resolve) => {
    addDemo(program, {
      config: () => readConfig({ DATA_DIR: dataDir, PORT: '0' }),
      now: () => NOW,
      print: resolve,
      note: (text) => process.stderr.write(`${text}\n`),
    })
  })
  const ended = program.parseAsync(['demo', '--days', String(DAYS)], { from: 'user' })
  const text = await Promise.race([shown, ended.then(() => '')])
  const [link] = /http\S+#key=\S+/.exec(text) ?? []
  if (link === undefined) throw new Error('the demo printed no link')
  return {
    link,
    async stop() {
      process.kill(process.pid, 'SIGTERM')
      await ended
      await rm(dataDir, { recursive: true })
    },
  }
}

/** Takes a picture when all numbers are there. */
async function takePicture(
  browser: Browser,
  link: string,
  { name, viewport, scheme = 'light', media, use }: Picture,
  now: Date | undefined,
): Promise<void> {
  const context = await browser.createBrowserContext()
  const page = await context.newPage()
  await page.setViewport(viewport)
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: scheme },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ])
  // It ends the emulation of features.
  if (media !== undefined) await page.emulateMediaType(media)
  if (now !== undefined) await page.evaluateOnNewDocument(stopClock(now))
  await page.goto(link, { waitUntil: 'networkidle0', timeout: TIMEOUT_MS })
  await page.waitForSelector('main[aria-busy="false"]', { timeout: TIMEOUT_MS })
  await use?.(page)
  const file = path.join(FOLDER, `explorer-${name}.png`)
  await page.screenshot({ path: file })
  await context.close()
  console.log(path.relative(packagePath('.'), file))
}

/** A script that stops the clock of a page. */
const stopClock = (now: Date): string => `
  Date = class extends Date {
    constructor(...args) { super(...(args.length === 0 ? [${now.getTime()}] : args)) }
    static now() { return ${now.getTime()} }
  }`

const [given] = process.argv.slice(2)
await mkdir(FOLDER, { recursive: true })
const demo = given === undefined ? await startDemo() : undefined
const browser = await startChromium()
try {
  for (const picture of PICTURES) {
    await takePicture(browser, demo?.link ?? given ?? '', picture, demo && NOW)
  }
} finally {
  await browser.close()
  await demo?.stop()
}
