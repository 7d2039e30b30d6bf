/** Finds and starts the browser of the tests. */
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

/** The browser that the variable CHROMIUM names, else the first one found; undefined without any. */
export const CHROMIUM = process.env['CHROMIUM'] ?? USUAL_PATHS.find((path) => existsSync(path))

/** A group of tests that need a browser; skipped, and named so, where there is none. */
export function describeInBrowser(name: string, tests: () => void): void {
  if (CHROMIUM === undefined) describe.skip(`${name} (no Chromium found: set CHROMIUM)`, tests)
  else describe(name, tests)
}

/** Starts a browser without a window, with an empty profile; it keeps pages for going back to them. */
export function startChromium(): Promise<Browser> {
  return launch({
    executablePath: CHROMIUM!,
    headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  })
}
