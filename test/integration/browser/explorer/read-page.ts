/** Reads single elements of a page. */
import type { Page } from 'puppeteer-core'

/** Evaluates an expression about the first element that a selector finds, as `one`. */
const readFirst = (page: Page, selector: string, expression: string): Promise<unknown> =>
  page.evaluate(`((one) => ${expression})(document.querySelector(${JSON.stringify(selector)}))`)

/** The text of the first element that a selector finds. */
export const readText = async (page: Page, selector: string): Promise<string> =>
  (await readFirst(page, selector, 'one.textContent')) as string

/** An attribute of the first element that a selector finds. */
export const readAttribute = async (page: Page, selector: string, name: string): Promise<string> =>
  (await readFirst(page, selector, `one.getAttribute('${name}')`)) as string

/** Whether the first element that a selector finds is displayed. */
export const isShown = async (page: Page, selector: string): Promise<boolean> =>
  (await readFirst(page, selector, 'one.checkVisibility()')) as boolean

/** The texts of all elements that a selector finds. */
export const readTexts = async (page: Page, selector: string): Promise<readonly string[]> =>
  (await page.evaluate(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => one.textContent)`,
  )) as string[]
