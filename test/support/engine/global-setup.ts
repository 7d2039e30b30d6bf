/** Builds the browser's files and starts the engine before the first test of a run. */
import { require as requireTs } from 'tsx/cjs/api'
import type * as browser from './build-browser.js'
import type * as shared from './shared-engine.js'

// Jest compiles this file alone, to CommonJS; tsx loads what it needs of the service, which is ESM.
export default async function globalSetup(): Promise<void> {
  const { buildBrowser } = requireTs('./build-browser.ts', import.meta.url) as typeof browser
  await buildBrowser()
  const { startSharedEngine } = requireTs('./shared-engine.ts', import.meta.url) as typeof shared
  const engine = await startSharedEngine()
  if (engine === undefined) return
  globalThis.sharedEngine = engine
  process.env['TEST_ENGINE'] = JSON.stringify(engine.endpoint)
}

declare global {
  var sharedEngine: shared.SharedEngine | undefined
}
