/** Filters of the explorer in a real browser: built field by field, and found by a search. */
import { expect, test } from '@jest/globals'
import type { HTTPRequest, Page } from 'puppeteer-core'
import { describeExplorer } from './describe-explorer.js'
import { readAttribute, readText, readTexts } from './read-page.js'

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
      await page.waitForFunction(`document.querySelector('.filter datalist option') !== null`)
      await page.type('input[name=filter-value]', value)
      await page.waitForNetworkIdle({ idleTime: 400 })
      await act(() => page.keyboard.press('Enter'))
      expect(await readTexts(page, '.pills .pill')).toEqual([pill])
      expect(Number(await readText(page, '.card[data-metric=users] data'))).toBeGreaterThan(0)
      expect(await page.$('.filter[open]')).toBeNull()
    }),
  )

  const WEEKEND = { type: 'clock', weekdays: [6, 7] }

  test.each([
    ['weekday', ['6', '7'], 'Weekday is Sat or Sun', [WEEKEND]],
    [
      'hour',
      ['02', '03', '11'],
      'Hour is 02:00–04:00 or 11:00–12:00',
      [{ type: 'clock', hours: [2, 3, 11] }],
    ],
    [
      'segment',
      ['french-phones'],
      'Segment is french-phones',
      [{ type: 'segment', value: 'french-phones' }],
    ],
  ])('%s %j is chosen by the keyboard, and taken back', (field, values, pill, filters) =>
    started().explore(`${PERIOD}&zone=Europe/Berlin`, async ({ page, act, read }) => {
      const users = '.card[data-metric=users] data'
      const all = Number(await readText(page, users))
      await page.click('.filter summary')
      await page.waitForSelector('select[name=filter-field] [value=segment]')
      await page.select('select[name=filter-field]', field)
      expect(
        await page.$eval(
          '.filter [type=submit]',
          (one) => (one as { disabled?: boolean }).disabled,
        ),
      ).toBe(true)
      for (const value of values) {
        await page.focus(`.filter input[value="${value}"]`)
        await page.keyboard.press('Space')
      }
      await act(() => page.keyboard.press('Enter'))
      expect(await readTexts(page, '.pills .pill')).toEqual([pill])
      expect(JSON.parse(new URL(page.url()).searchParams.get('filters')!)).toEqual([
        [field, 'is', ...values],
      ])
      const chosen = Number(await readText(page, users))
      expect(chosen).toBeGreaterThan(0)
      expect(chosen).toBeLessThan(all)
      const [cards] = await read()
      expect(cards!.query).toMatchObject({ filters, time_zone: 'Europe/Berlin' })
      await page.click('.pills .pill')
      await act(() => page.locator('.pills ::-p-text(Exclude instead)').click())
      expect(await readTexts(page, '.pills .pill')).toEqual([pill.replace('is', 'is not')])
      await act(() => page.click('.pills [aria-label^=Remove]'))
      expect(Number(await readText(page, users))).toBe(all)
      expect(new URL(page.url()).searchParams.get('filters')).toBeNull()
    }),
  )

  const PILLS = '.pills .pill'
  const readFocused = (page: Page) => page.evaluate(`document.activeElement.textContent`)
  const readFilters = (page: Page): unknown =>
    JSON.parse(new URL(page.url()).searchParams.get('filters') ?? '[]')

  test('a click on a filter opens it: the keyboard changes its value and its operator, and the focus stays', () =>
    started().explore(`${PERIOD}&filters=[["country","is","DE"]]`, async ({ page, act }) => {
      expect(await readAttribute(page, PILLS, 'title')).toBe('Edit: Country is Germany')
      await page.focus(PILLS)
      await page.keyboard.press('Enter')
      await page.waitForSelector('.pills form')
      expect(readFilters(page)).toEqual([['country', 'is', 'DE']])
      // A click on it asks nothing, and saving it as it is changes nothing.
      await page.focus('.pills [name=filter-value]')
      await page.keyboard.press('Enter')
      await page.waitForFunction(`document.querySelector('.pills form') === null`)
      expect(readFilters(page)).toEqual([['country', 'is', 'DE']])
      expect(await readFocused(page)).toBe('Country is Germany')
      await page.keyboard.press('Enter')
      await page.waitForSelector('.pills form')
      await page.select('.pills [name=filter-operator]', 'is_not')
      await page.$eval('.pills [name=filter-value]', (one) => (one as { select(): void }).select())
      await page.type('.pills [name=filter-value]', 'france')
      await page.waitForNetworkIdle({ idleTime: 400 })
      await act(() => page.keyboard.press('Enter'))
      expect(readFilters(page)).toEqual([['country', 'is_not', 'FR']])
      expect(await readFocused(page)).toBe('Country is not France')
      await page.keyboard.press('Enter')
      await page.waitForSelector('.pills form')
      await page.keyboard.press('Escape')
      await page.waitForFunction(`document.querySelector('.pills form') === null`)
      expect(await readFocused(page)).toBe('Country is not France')
    }))

  test('of a filter with several values, one is taken back and another added by taps', () =>
    started().explore(
      `${PERIOD}&filters=[["event:prop:plan","is","pro","gone"],["country","is","DE"]]`,
      async ({ page, act }) => {
        await page.setViewport({ width: 390, height: 844, isMobile: true, hasTouch: true })
        await page.tap(PILLS)
        await page.waitForSelector('.pills form')
        await page.tap('.pills input[value=gone]')
        await page.type('.pills [name=filter-value]', 'free')
        const { left, right } = (await page.evaluate(
          `document.querySelector('.pills .opened').getBoundingClientRect().toJSON()`,
        )) as { left: number; right: number }
        expect(left >= 0 && right <= 390).toBe(true)
        await act(() => page.tap('.pills [type=submit]'))
        expect(readFilters(page)).toEqual([
          ['event:prop:plan', 'is', 'pro', 'free'],
          ['country', 'is', 'DE'],
        ])
        await page.tap(PILLS)
        await act(() => page.locator('.pills ::-p-text(Exclude instead)').click())
        expect(await readTexts(page, PILLS)).toEqual([
          'Visit without plan pro or free',
          'Country is Germany',
        ])
        await page.tap(PILLS)
        await act(() => page.locator('.pills ::-p-text(Include instead)').click())
        expect((await readTexts(page, PILLS))[0]).toBe('Visit with plan pro or free')
      },
    ))

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
