/** Finds and starts Chromium. */
import { existsSync } from 'node:fs'
import { launch, type Browser } from 'puppeteer-core'

const USUAL_PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** The path in the variable CHROMIUM, or the first browser found; undefined if there is none. */
export const CHROMIUM = process.env['CHROMIUM'] ?? USUAL_PATHS.find((path) => existsSync(path))

/** How long a page, and the browser itself, may take for anything: the machine may be busy. */
const PATIENCE_MS = 300_000

/** Starts a headless browser with an empty profile and the back/forward cache. @throws Error when there is none */
export async function startChromium(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error('no Chromium found: set CHROMIUM')
  const browser = await launch({
    timeout: PATIENCE_MS,
    protocolTimeout: PATIENCE_MS,
    executablePath: CHROMIUM,
    headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  })
  browser.on('targetcreated', (target) => {
    const page = target.page().catch(() => null)
    void page.then((created) => created?.setDefaultTimeout(PATIENCE_MS))
  })
  return browser
}
