/** Visits a page with the script in a browser with an empty profile, and reads the events that it sent. */
import { expect } from '@jest/globals'
import type { Router } from 'express'
import type { Browser, Page } from 'puppeteer-core'
import { startChromium } from './chromium.js'
import { startCollector, startSite, type Collector, type SentEvent, type WebPage } from './web.js'

export interface Web {
  readonly browser: Browser
  readonly site: Awaited<ReturnType<typeof startSite>>
  readonly collector: Collector
  close(): Promise<void>
}

/** Starts a browser, a site, and a collector on another origin that also serves the routers. */
export async function startWeb(...routers: readonly Router[]): Promise<Web> {
  const [browser, site, collector] = await Promise.all([
    startChromium(),
    startSite(),
    startCollector(...routers),
  ])
  return {
    browser,
    site,
    collector,
    close: async () => {
      await browser.close()
      await Promise.all([site.close(), collector.close()])
    },
  }
}

export const TOKEN = 'tallypub_of-the-test'

/** Returns the element that loads the script, with these attributes beside its token. */
export const scriptTag = ({ url }: Pick<Collector, 'url'>, attributes = ''): string =>
  `<script defer src="${url}/tally.js" data-token="${TOKEN}" ${attributes}></script>`

/** Returns a page with these elements in its head. */
export const html = (head: string, body = ''): WebPage => ({
  html: `<!doctype html><html lang="en"><head><title>A page</title>${head}</head><body>${body}</body></html>`,
})

export interface VisitOptions {
  /** A script that runs before anything in the page does. */
  readonly before?: string
  readonly referer?: string
}

/** Opens an address in a new profile, uses the page, and closes it. Fails if the page had an error. */
export async function visit(
  { browser, collector }: Web,
  url: string,
  { before, referer }: VisitOptions,
  use: (page: Page) => Promise<void>,
): Promise<void> {
  collector.received.length = 0
  const context = await browser.createBrowserContext()
  try {
    const page = await context.newPage()
    const failures: unknown[] = []
    page.on('pageerror', (error) => failures.push(error))
    if (before !== undefined) await page.evaluateOnNewDocument(before)
    await page.goto(url, { ...(referer === undefined ? {} : { referer }) })
    await use(page)
    expect(failures).toEqual([])
  } finally {
    await context.close()
  }
}

const LAST = 'last-of-the-test'

/** Waits for `count` events and for a last one that the page sends after them; returns all events but that one. */
export async function sent(page: Page, collector: Collector, count: number): Promise<SentEvent[]> {
  const body = JSON.stringify({ events: [{ name: LAST }] })
  const [url, text] = [JSON.stringify(`${collector.url}/last`), JSON.stringify(body)]
  await page.evaluate(`{
    const byBeacon = navigator.sendBeacon?.(${url}, ${text})
    if (!byBeacon) fetch(${url}, { method: 'POST', mode: 'no-cors', body: ${text} })
  }`)
  await collector.until(
    (events) => events.length > count && events.some(({ name }) => name === LAST),
  )
  return collector.events().filter(({ name }) => name !== LAST)
}

/** The exact event that is expected; its id may be any of the right form. */
export const event = (fields: object): object => ({
  event_id: expect.stringMatching(/^\d+(-\d+){3}$/),
  ...fields,
})
