/** The explorer in Chromium: what it shows, as text and numbers, and what it asks. */
import type { Browser, HTTPRequest, Page } from 'puppeteer-core'

/** A part of the page: the query of its menu, and its numbers. */
export interface ShownPart {
  /** `cards`, `chart`, `numbers`, `details`, or the name of a panel. */
  readonly name: string
  /** The body of the query, as the menu shows it. */
  readonly query: object
  readonly rows: readonly ShownRow[]
}

export interface ShownRow {
  /** What the row is about, exactly: a metric, the label of a bucket, a value. */
  readonly about: string
  /** What the row is called. */
  readonly name: string
  /** Its numbers, exactly: changes and counts; null where there is none. */
  readonly values: readonly (number | null)[]
  /** The texts of the cells, with those numbers as people read them. */
  readonly texts: readonly string[]
}

export interface ExplorerPage {
  readonly page: Page
  /** The requests for anything that are not yet taken, in their order. */
  readonly takeRequests: () => readonly HTTPRequest[]
  /** Errors of scripts, and what the console was told as an error. */
  readonly errors: readonly string[]
  /** Does something on the page, and waits until its numbers are there. */
  readonly act: (action: () => Promise<unknown>) => Promise<void>
  /** Reads all parts. */
  readonly read: () => Promise<readonly ShownPart[]>
  readonly close: () => Promise<void>
}

/** Opens the menu of every part and the table of the chart. Query must be in JSON, which it is at first. */
const OPEN_ALL = `document.querySelectorAll('details.query, details.as-table').forEach((one) => { one.open = true })`

/** Menus lie on what is below them. */
const CLOSE_MENUS = `document.querySelectorAll('details.query').forEach((one) => { one.open = false })`

/** What waits for an answer: the page itself, parts without one, and numbers of the query before. */
const IS_SETTLED = `document.querySelector('main[aria-busy=false]') !== null
  && document.querySelector('.loading, .plot:empty, .old') === null`

const READ = `(() => {
  const exact = (one) => one === null || one === undefined ? null : Number(one.value)
  const text = (one) => one.textContent.trim()
  const readCells = (row) => [...row.querySelectorAll('td')]
  const parts = [
    ['cards', 'section.cards'],
    ['chart', 'section.chart'],
    ...[...document.querySelectorAll('section.panel')].map(({ dataset: { panel } }) =>
      [panel, 'section.panel[data-panel="' + panel + '"]']),
    ['numbers', 'section.numbers'],
    ['details', 'dialog'],
  ]
  return parts.flatMap(([name, selector]) => {
    const part = document.querySelector(selector)
    if (part === null) return []
    const cards = [...part.querySelectorAll('.card, :scope > dl > [data-metric]')].map((card) => ({
      about: card.dataset.metric,
      name: text(card.querySelector('.name, dt')),
      values: [exact(card.querySelector('data:not(.change)')), exact(card.querySelector('.change'))],
      texts: [text(card.querySelector('strong, dd')), ...[...card.querySelectorAll('.change')].map(text)],
    }))
    const rows = [...part.querySelectorAll('tbody tr:not(.step)')].map((row) => ({
      about: row.dataset.value ?? text(row.querySelector('th')),
      name: text(row.querySelector('th')),
      values: readCells(row).filter((cell) => !cell.classList.contains('share')).flatMap((cell) => {
        const found = [...cell.querySelectorAll('data')].map(exact)
        return found.length === 0 ? [null] : found
      }),
      texts: readCells(row).map(text),
    }))
    const query = JSON.parse(text(part.querySelector('.query pre')))
    return [{ name, query, rows: [...cards, ...rows] }]
  })
})()`

/** Opens the page in a profile of its own, with a key in the fragment, and waits for its numbers. @param query such as `?period=7days`, with the rest of a path before it */
export async function openExplorer(
  browser: Browser,
  { address, key }: { readonly address: string; readonly key: string },
  query = '',
): Promise<ExplorerPage> {
  const context = await browser.createBrowserContext()
  const page = await context.newPage()
  const errors: string[] = []
  let requests: HTTPRequest[] = []
  page.on('request', (request) => requests.push(request))
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  const act = async (action: () => Promise<unknown>): Promise<void> => {
    await action()
    await page.waitForNetworkIdle({ idleTime: 200 })
    await page.waitForFunction(IS_SETTLED)
  }
  await act(() => page.goto(`${address}/explore${query}#key=${key}`))
  return {
    page,
    errors,
    act,
    takeRequests: () => {
      const taken = requests
      requests = []
      return taken
    },
    read: async () => {
      await page.evaluate(OPEN_ALL)
      await page.waitForFunction(
        `[...document.querySelectorAll('details.query')].every((one) => one.querySelector('pre'))`,
      )
      const parts = (await page.evaluate(READ)) as readonly ShownPart[]
      await page.evaluate(CLOSE_MENUS)
      return parts
    },
    close: () => context.close(),
  }
}
