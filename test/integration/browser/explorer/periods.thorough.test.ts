/** The periods of the explorer in a real browser: the live one, what is remembered, and what cannot be compared yet. */
import { expect, test } from '@jest/globals'
import type { Page } from 'puppeteer-core'
import { describeExplorer } from './describe-explorer.js'
import { openExplorer } from './explorer-page.js'
import { NOW } from './project.js'
import { readText, readTexts } from './read-page.js'

/** Sets the clock of a page to that of the service, and its intervals to a tenth of their length. */
const SET_CLOCK = `(() => {
  const shift = ${NOW.getTime()} - Date.now()
  const Real = Date
  window.ahead = 0
  window.Date = class extends Real {
    constructor(...given) {
      super(...(given.length === 0 ? [Real.now() + shift + window.ahead] : given))
    }
  }
  const repeat = window.setInterval
  window.setInterval = (call, ms) => repeat(call, ms / 10)
})()`

const readChart = (page: Page) => readTexts(page, '.as-table tbody th')

describeExplorer('the periods of the explorer', (started) => {
  test('who is there now opens the last 30 minutes by minute, which move on', async () => {
    const { page, act, read, errors, close } = await openExplorer(
      started().browser,
      started().service,
    )
    await page.evaluateOnNewDocument(SET_CLOCK)
    await act(() => page.reload())
    await act(() => page.click('.now'))
    expect(new URL(page.url()).search).toBe('?period=now')
    const minutes = await readChart(page)
    expect([minutes.length, minutes[0], minutes.at(-1)]).toEqual([
      30,
      '1 Mar, 11:31',
      '1 Mar, 12:00',
    ])
    const parts = await read()
    const chart = parts.find(({ name }) => name === 'chart')!
    expect(chart.query).toMatchObject({ group_by: ['interval:minute'] })
    const users = parts[0]!.rows[0]!.values[0]
    expect(users).toBe(1)
    expect(chart.rows.map(({ values }) => values[0]).filter((count) => count !== 0)).toEqual([1])
    // Three minutes later the first three are gone.
    await page.evaluate('window.ahead = 180_000')
    await page.waitForFunction(
      `document.querySelector('.as-table tbody th').textContent === '1 Mar, 11:34'`,
    )
    expect(await page.evaluate(`document.querySelector('.card data').value`)).toBe('1')
    expect(errors).toEqual([])
    await close()
  })

  test('the last preset and zone are those of the next visit, whose address says so', async () => {
    const { page, act, close } = await openExplorer(started().browser, started().service)
    await page.click('.period summary')
    await act(() => page.locator('::-p-aria([name="Last month"][role="button"])').click())
    await act(() => page.select('select[name=zone]', 'Asia/Tokyo'))
    const { address } = started().service
    await act(() => page.goto(`${address}/explore`))
    expect(page.url()).toBe(`${address}/explore?period=last_month&zone=Asia%2FTokyo`)
    expect(await readText(page, '.legend .of-line')).toBe('1 Feb 2026 – 28 Feb 2026')
    await act(() => page.goto(`${address}/explore?period=7days`))
    expect(await readText(page, 'select[name=zone] option:checked')).toBe('UTC')
    await close()
  })

  test('nothing is compared with a time before the first event', () =>
    started().explore('?period=2025-12-10..2026-01-31', async ({ page, act }) => {
      expect(await readTexts(page, '.chart .limits')).toEqual([
        'Not compared: events are counted since Tue 9 Dec 2025.',
      ])
      expect(await page.$$('.change, .of-compared, .compared')).toEqual([])
      await act(() => page.locator('[aria-label="The period after"]').click())
      expect(await readTexts(page, '.chart .limits')).toEqual([])
      expect((await page.$$('.change')).length).toBeGreaterThan(10)
    }))

  test('retention is by day, week or month of UTC, and hatches what is not over', () =>
    started().explore(
      '?period=2026-02-02..2026-02-18&tabs=["users","retention"]',
      async ({ page, act }) => {
        const cut = () => readTexts(page, '.grid .cut')
        // The third week has three of its seven days, and the one after it none.
        expect(await readTexts(page, '.grid tbody th')).toEqual(['2 Feb', '9 Feb', '16 Feb'])
        expect(await cut()).toHaveLength(4)
        await act(() => page.select('select[name=cohort]', 'day'))
        expect(new URL(page.url()).searchParams.get('cohort')).toBe('day')
        expect(await readText(page, '.grid thead')).toMatch(/^First dayUsersDay 1Day 2/)
        // Fourteen days after the first one are over.
        expect(await page.$$('.grid tbody tr:first-child .cut')).toEqual([])
        expect((await cut()).length).toBeGreaterThan(0)
      },
    ))
})
