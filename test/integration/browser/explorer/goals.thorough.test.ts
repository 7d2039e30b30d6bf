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
          'Goal: paid',
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

    test('is reached on some pages: the others have a dash, and a note says what a click shows', () =>
      started().explore(`${PERIOD}&goal=pro`, async ({ page }) => {
        const readRow = (path: string) =>
          readTexts(page, `[data-panel=pages] tr[data-value="${path}"] td:nth-last-child(-n+2)`)
        expect(await readRow('/docs')).toEqual(['–', '–'])
        expect((await readRow('/pricing'))[0]).toBe('8')
        expect(await readText(page, '[data-panel=pages] .below')).toContain('where there is a dash')
      }))

    test('has the value of its conversions, if it has one', () =>
      started().explore(`${PERIOD}&goal=paid`, async ({ page, act }) => {
        expect(await readText(page, '.card[data-metric=value]')).toBe('Value8+14.3%')
        expect((await readTexts(page, HEADS)).slice(-3)).toEqual(['Conversions', 'Rate', 'Value'])
        await act(() => page.click('.card[data-metric=value]'))
        expect(await readAttribute(page, 'section.chart', 'aria-label')).toBe('Value over time')
        await act(() => page.click('[data-panel=places] .open-details button'))
        expect((await readTexts(page, 'dialog thead th')).at(-1)).toBe('Value')
        await act(() => page.keyboard.press('Escape'))
        await act(() => page.select('select[name=goal]', 'pricing'))
        expect(await readTexts(page, '[role=alert]')).toEqual([])
        expect(await readAttribute(page, 'section.chart', 'aria-label')).toBe('Users over time')
      }))

    test('has no value in several currencies, until a filter leaves one', () =>
      started().explore(
        '?period=2025-12-09..2025-12-20&compare=off&goal=paid',
        async ({ page, act }) => {
          expect(await readTexts(page, '.cards .limits')).toEqual([
            expect.stringMatching(
              /^The value of the goal is in several currencies\. Filter by one of them:/,
            ),
          ])
          expect(await page.$$('.card')).toHaveLength(8)
          const euros = (await page.waitForSelector('.cards .limits ::-p-text(EUR)'))!
          expect(await readTexts(page, '.cards .limits button')).toEqual(
            expect.arrayContaining(['CHF', 'EUR']),
          )
          await act(() => euros.click())
          expect(new URL(page.url()).searchParams.get('filters')).toBe(
            '[["event:prop:currency","is","EUR"]]',
          )
          expect(await readTexts(page, '.cards .limits')).toEqual([])
          expect(await page.$$('.card')).toHaveLength(9)
        },
      ))

    test('that does not exist is said once, and can be taken back', async () => {
      const { explore } = started()
      await explore(`${PERIOD}&goal=gone`, async ({ page, act }) => {
        expect(await readTexts(page, '[role=alert]')).toEqual([
          expect.stringMatching(/goal.*paid, pricing, pro/i),
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
      ['pro', 390, ['Country', 'Users', 'Change', 'Conversions', 'Rate']],
      ['pro', 1000, ['Country', 'Users', 'Change', 'Conversions', 'Rate']],
      ['pro', 1200, ['Country', 'Users', 'Share', 'Change', 'Conversions', 'Rate']],
      ['paid', 390, ['Country', 'Users', 'Conversions', 'Rate', 'Value']],
      ['paid', 1100, ['Country', 'Users', 'Change', 'Conversions', 'Rate', 'Value']],
      ['paid', 1640, ['Country', 'Users', 'Share', 'Change', 'Conversions', 'Rate', 'Value']],
    ])('%s leaves room for names on a screen of %i pixels', (goal, width, heads) =>
      started().explore(`${PERIOD}&goal=${goal}`, async ({ page }) => {
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
