/**
 * Takes the pictures of the explorer in README.md, light and dark: `npm run screenshots`. The demo that they show always ends at
 * the same moment, so pictures of the same page differ by the fonts of the machine alone.
 *
 * `npm run screenshots -- <link>` takes them of a running service; the link is what `tallyhouse open` prints.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Command } from 'commander'
import type { Browser } from 'puppeteer-core'
import { addDemo } from '../src/commands/demo.js'
import { readConfig } from '../src/config/config.js'
import { packagePath } from '../src/lib/package-path.js'
import { startChromium } from '../test/integration/browser/find-chromium.js'

/** A Friday afternoon after a launch. */
const NOW = new Date('2026-06-19T15:00:00Z')
const DAYS = 100

const FOLDER = packagePath('docs/images')
const SIZE = { width: 1200, height: 900 }
/** How long the page may take, on a machine that is busy. */
const TIMEOUT_MS = 30_000
const SCHEMES = ['light', 'dark'] as const

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

/** Takes one picture, when all numbers are there. */
async function takePicture(
  browser: Browser,
  link: string,
  scheme: (typeof SCHEMES)[number],
  now: Date | undefined,
): Promise<void> {
  const context = await browser.createBrowserContext()
  const page = await context.newPage()
  await page.setViewport(SIZE)
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: scheme },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ])
  if (now !== undefined) await page.evaluateOnNewDocument(stopClock(now))
  await page.goto(link, { waitUntil: 'networkidle0', timeout: TIMEOUT_MS })
  await page.waitForSelector('main[aria-busy="false"]', { timeout: TIMEOUT_MS })
  const file = path.join(FOLDER, `explorer-${scheme}.png`)
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
  for (const scheme of SCHEMES) {
    await takePicture(browser, demo?.link ?? given ?? '', scheme, demo && NOW)
  }
} finally {
  await browser.close()
  await demo?.stop()
}
