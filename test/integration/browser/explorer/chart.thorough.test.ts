/** The chart of the explorer in a real browser: its axis, and the stretches that people select. */
import { expect, test } from '@jest/globals'
import type { Page } from 'puppeteer-core'
import { describeExplorer } from './describe-explorer.js'
import { readText, readTexts } from './read-page.js'

const readPeriod = (page: Page) => new URL(page.url()).searchParams.get('period')

/** The names on the axis of time. */
const readTicks = (page: Page) => readTexts(page, '.plot .tick:not([text-anchor=end])')

describeExplorer('the chart of the explorer', (started) => {
  test('names Mondays, shades weekends, and says both periods and the zone', () =>
    started().explore('?period=2026-02-01..2026-02-28&zone=Asia/Tokyo', async ({ page }) => {
      expect(await readTicks(page)).toEqual(['2 Feb', '9 Feb', '16 Feb', '23 Feb'])
      expect(await page.$$('.plot .weekend')).toHaveLength(5)
      expect(await readTexts(page, '.legend span')).toEqual([
        '1 Feb 2026 – 28 Feb 2026',
        '4 Jan 2026 – 31 Jan 2026',
        'Asia/Tokyo',
      ])
      await page.focus('.plot')
      await page.keyboard.press('Home')
      expect(await readText(page, '.tip')).toMatch(/^Sun 1 Feb 2026.*· Sun 4 Jan 2026$/)
    }))

  test('hours are those of the zone, and are said to be', () =>
    started().explore(
      '?period=2026-02-27..2026-02-28&zone=Australia/Adelaide',
      async ({ page, act }) => {
        expect(await readTicks(page)).toContain('28 Feb')
        await page.focus('.plot')
        await page.keyboard.press('Home')
        expect(await readText(page, '.tip')).toMatch(/^27 Feb, 00:00 Australia\/Adelaide/)
        await act(() => page.keyboard.press('Enter'))
        expect(readPeriod(page)).toBe('2026-02-26T13:30:00Z..2026-02-26T14:29:59Z')
        expect(await readText(page, '.period summary')).toBe('27 Feb 2026, 00:00 – 00:59')
      },
    ))

  test('a drag selects the points from where it began to where it ended', () =>
    started().explore('?period=2026-02-01..2026-02-28', async ({ page, act }) => {
      const box = (await (await page.$('.plot'))!.boundingBox())!
      const at = (day: number) => box.x + 56 + ((box.width - 72) * (day - 1)) / 27
      await page.mouse.move(at(20), box.y + 100)
      await page.mouse.down()
      await page.mouse.move(at(12), box.y + 60, { steps: 5 })
      expect(await readText(page, '.tip')).toMatch(/^Thu 12 Feb 2026 – Fri 20 Feb 2026/)
      expect(await page.$$('.plot .selected')).toHaveLength(1)
      await act(() => page.mouse.up())
      expect(readPeriod(page)).toBe('2026-02-12..2026-02-20')
      expect(await page.$('.plot .selected')).toBeNull()
    }))

  test('Shift and arrow keys select, Escape ends that, and Enter shows what is selected', () =>
    started().explore('?period=2026-02-01..2026-02-28', async ({ page, act }) => {
      const press = async (...keys: readonly ('Home' | 'ArrowRight' | 'Escape')[]) => {
        for (const key of keys) await page.keyboard.press(key)
      }
      await page.focus('.plot')
      await press('Home')
      await page.keyboard.down('Shift')
      await press('ArrowRight', 'ArrowRight')
      await press('Escape', 'ArrowRight', 'ArrowRight', 'ArrowRight')
      await page.keyboard.up('Shift')
      await act(() => page.keyboard.press('Enter'))
      expect(readPeriod(page)).toBe('2026-02-03..2026-02-06')
    }))
})
