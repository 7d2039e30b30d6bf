/** Filters of the explorer in a real browser: built field by field, and found by a search. */
import { expect } from '@jest/globals'
import type { HTTPRequest } from 'puppeteer-core'
import { thoroughTest as test } from '../../../support/effort.js'
import { describeExplorer } from './describe-explorer.js'
import { readText, readTexts } from './read-page.js'

const PERIOD = '?period=2026-02-01..2026-02-28'

/** How many queries some requests have. */
async function countQueries(requests: readonly HTTPRequest[]): Promise<number> {
  const batches = requests.filter((request) => request.url().endsWith('/batch'))
  const bodies = await Promise.all(batches.map((request) => request.fetchPostData()))
  return bodies.reduce(
    (sum, body) => sum + (JSON.parse(body ?? '{}') as { queries: [] }).queries.length,
    0,
  )
}

describeExplorer('the filters of the explorer', (started) => {
  test.each([
    ['country', 'is_not', 'germany', 'Country is not Germany'],
    ['page:path', 'contains', 'DOC', 'Path contains DOC'],
    ['event:prop:plan', 'is', 'pro', 'Visit with plan pro'],
    ['referrer', 'is', 'Direct', 'Referrer is Direct'],
  ])('%s %s %s', (field, operator, value, pill) =>
    started().explore(PERIOD, async ({ page, act }) => {
      await page.keyboard.press('f')
      expect(await page.evaluate(`document.activeElement.name`)).toBe('filter-value')
      await page.select('select[name=filter-field]', field)
      await page.select('select[name=filter-operator]', operator)
      await page.waitForFunction(`document.querySelector('#filter-values option') !== null`)
      await page.type('input[name=filter-value]', value)
      await page.waitForNetworkIdle({ idleTime: 400 })
      await act(() => page.keyboard.press('Enter'))
      expect(await readTexts(page, '.pills .pill')).toEqual([pill])
      expect(Number(await readText(page, '.card[data-metric=users] data'))).toBeGreaterThan(0)
      expect(await page.$('.filter[open]')).toBeNull()
    }),
  )

  test('a search of twelve letters has at most 12 queries, and finds what the last letter leaves', () =>
    started().explore(PERIOD, async ({ page, takeRequests }) => {
      takeRequests()
      await page.type('input[name=search]', 'united state', { delay: 250 })
      await page.waitForFunction(`document.querySelectorAll('[role=option]').length === 2`)
      expect(await readTexts(page, '[role=option]')).toEqual([
        'United States Places: Country',
        'Page contains “united state” Pages: Path',
      ])
      const count = await countQueries(takeRequests())
      expect(count).toBeGreaterThan(5)
      expect(count).toBeLessThanOrEqual(12)
    }))
})
