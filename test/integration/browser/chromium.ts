/** Finds and starts Chromium for the tests. */
import { describe } from '@jest/globals'
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

/** Describes tests that need a browser. Without one they are skipped, and their name says so. */
export function describeInBrowser(name: string, tests: () => void): void {
  if (CHROMIUM === undefined) describe.skip(`${name} (no Chromium found: set CHROMIUM)`, tests)
  else describe(name, tests)
}

/** Starts a headless browser with an empty profile and the back/forward cache. */
export function startChromium(): Promise<Browser> {
  return launch({
    executablePath: CHROMIUM!,
    headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  })
}
