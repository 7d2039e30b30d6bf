/** Tests that need a browser. */
import { describe } from '@jest/globals'
import { CHROMIUM } from './find-chromium.js'

export { startChromium } from './find-chromium.js'

/** Describes tests that need a browser. Without one they are skipped, and their name says so. */
export function describeInBrowser(name: string, tests: () => void): void {
  if (CHROMIUM === undefined) describe.skip(`${name} (no Chromium found: set CHROMIUM)`, tests)
  else describe(name, tests)
}
