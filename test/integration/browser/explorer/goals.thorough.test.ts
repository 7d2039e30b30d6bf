/** The goal of the explorer in a real browser: chosen once, it gives every part its conversions. */
import { expect, test } from '@jest/globals'
import { describeExplorer } from './describe-explorer.js'
import { readAttribute, readText, readTexts } from './read-page.js'

const PERIOD = '?period=2026-02-01..2026-02-28'

describeExplorer(
  'the goal of the explorer',
  (started) => {
    const HEADS = '[data-panel=places] thead th'

    test('is chosen in one control, is a part of the address, and leaves every part when it is taken back', () =>
      started().explore(PERIOD, async ({ page, act }) => {
        await page.waitForSelector('select[name=goal]')
        expect(await readTexts(page, 'select[name=goal] option')).toEqual([
          'No goal',
          'Goal: pricing',
          'Goal: pro',
        ])
        expect(await readTexts(page, HEADS)).toEqual(['Country', 'Users', 'Share', 'Change'])
        await act(() => page.select('select[name=goal]', 'pro'))
        expect(new URL(page.url()).searchParams.get('goal')).toBe('pro')
        expect(await readTexts(page, HEADS)).toEqual([
          ...['Country', 'Users', 'Share', 'Change', 'Conversions', 'Rate'],
        ])
        expect(
          await Promise.all(
            ['conversions', 'conversion_rate'].map((metric) =>
              readText(page, `.card[data-metric=${metric}] strong`),
            ),
          ),
        ).toEqual(['8', '12.5%'])
        await act(() => page.click('.card[data-metric=conversions]'))
        expect(await readAttribute(page, 'section.chart', 'aria-label')).toBe(
          'Conversions over time',
        )
        await act(() => page.click('[data-panel=places] .open-details button'))
        expect((await readTexts(page, 'dialog thead th')).slice(-2)).toEqual([
          'Conversions',
          'Rate',
        ])
        await act(() => page.click('dialog thead th:last-child button'))
        expect(await readAttribute(page, 'dialog thead th:last-child', 'aria-sort')).toBe(
          'descending',
        )
        await act(() => page.keyboard.press('Escape'))
        await act(() => page.select('select[name=goal]', ''))
        expect(new URL(page.url()).search).toBe(PERIOD)
        expect(await page.$$('.card')).toHaveLength(6)
        expect(await readTexts(page, HEADS)).toEqual(['Country', 'Users', 'Share', 'Change'])
      }))

    test('that does not exist is said once, and can be taken back', async () => {
      const { explore } = started()
      await explore(`${PERIOD}&goal=gone`, async ({ page, act }) => {
        expect(await readTexts(page, '[role=alert]')).toEqual([
          expect.stringMatching(/goal.*pricing, pro/i),
        ])
        expect(await readTexts(page, 'select[name=goal] option:checked')).toEqual(['Goal: gone'])
        await act(() => page.select('select[name=goal]', ''))
        expect(await readTexts(page, '[role=alert]')).toEqual([])
        expect(await readText(page, '.card[data-metric=users] data')).toBe('32')
      })
    })

    test('of a link is shown on a public dashboard, too', async () => {
      const { browser, service } = started()
      const page = await browser.newPage()
      await page.goto(`${service.address}/share/${service.id}${PERIOD}&goal=pro`)
      await page.waitForSelector('.card[data-metric=conversions] data')
      expect(await readText(page, '.card[data-metric=conversions] data')).toBe('8')
      expect(await readTexts(page, 'select[name=goal] option')).toEqual(['No goal', 'Goal: pro'])
      await page.close()
    })

    test.each([
      [390, ['Country', 'Users', 'Change', 'Conversions', 'Rate']],
      [1000, ['Country', 'Users', 'Change', 'Conversions', 'Rate']],
      [1200, ['Country', 'Users', 'Share', 'Change', 'Conversions', 'Rate']],
    ])('leaves room for names on a screen of %i pixels', (width, heads) =>
      started().explore(`${PERIOD}&goal=pro`, async ({ page }) => {
        await page.setViewport({ width, height: 900 })
        const shown = `[...document.querySelectorAll('${HEADS}')].filter((one) => one.checkVisibility()).map((one) => one.textContent)`
        expect(await page.evaluate(shown)).toEqual(heads)
        expect(
          await page.evaluate(`document.querySelector('${HEADS}').offsetWidth`),
        ).toBeGreaterThan(85)
        expect(await page.evaluate(`document.documentElement.scrollWidth`)).toBe(width)
      }),
    )
  },
  { hasPublicDashboard: true },
)
