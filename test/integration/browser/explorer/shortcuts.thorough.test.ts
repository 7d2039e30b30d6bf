/** The explorer in a real browser: its shortcuts. */
import { expect, test } from '@jest/globals'
import type { KeyInput, Page } from 'puppeteer-core'
import { describeExplorer } from './describe-explorer.js'
import { readTexts } from './read-page.js'

describeExplorer('the shortcuts of the explorer', (started) => {
  const readQuery = (page: Page): string => decodeURIComponent(new URL(page.url()).search)
  const FILTERED = '?filters=[["country","is","DE"]]'

  test('choose, filter, search and list; where somebody types, they are text', () =>
    started().explore(FILTERED, async ({ page, act }) => {
      const press = (key: KeyInput) => act(() => page.keyboard.press(key))
      await press('w')
      expect(readQuery(page)).toBe(`?period=7days&${FILTERED.slice(1)}`)
      // It closes things, and takes nothing away.
      await press('Escape')
      expect(readQuery(page)).toBe(`?period=7days&${FILTERED.slice(1)}`)
      await act(() => page.locator('[aria-label^="Remove: "]').click())
      expect(readQuery(page)).toBe('?period=7days')
      await page.evaluate(`document.activeElement.blur()`)
      await press('/')
      await press('d')
      expect(await page.evaluate(`document.activeElement.value`)).toBe('d')
      expect(readQuery(page)).toBe('?period=7days')
      await press('Backspace')
      // Values of properties are found, too.
      await page.type('input[name=search]', 'FREE\n')
      await act(() => page.waitForSelector('.pill'))
      expect(readQuery(page)).toBe('?period=7days&filters=[["event:prop:plan","is","free"]]')
      await act(() => page.locator('[aria-label^="Remove: "]').click())
      await page.evaluate(`document.activeElement.blur()`)
      await press('c')
      expect(await page.evaluate(`document.activeElement.name`)).toBe('from')
      await press('Escape')
      await press('?')
      await press('d')
      expect(await readTexts(page, 'dialog h2')).toEqual(['Keyboard shortcuts'])
      await press('Escape')
      expect(await page.$('dialog')).toBeNull()
      expect(readQuery(page)).toBe('?period=7days')
    }))

  test('are turned off, also after the page is loaded again', () =>
    started().explore(FILTERED, async ({ page, act }) => {
      const press = (key: KeyInput) => act(() => page.keyboard.press(key))
      await act(() => page.locator('.foot button').click())
      await act(() => page.locator('dialog input[type=checkbox]').click())
      await press('Escape')
      await press('d')
      await act(() => page.reload())
      await press('Escape')
      await press('?')
      expect(readQuery(page)).toBe(FILTERED)
      expect(await page.$('dialog')).toBeNull()
    }))
})
