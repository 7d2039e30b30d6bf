/** The explorer in a real browser: what people do on it, by pointer. */
import { expect, test } from '@jest/globals'
import type { HTTPRequest, Page } from 'puppeteer-core'
import { describeExplorer, type StartedExplorer } from './describe-explorer.js'
import type { ExplorerPage } from './explorer-page.js'
import { readAttribute, readText, readTexts } from './read-page.js'

const PERIOD = '?period=2026-02-01..2026-02-28'

describeExplorer('on the explorer', (started) => {
  /** Opens the page, uses it, and closes it. What it asked at first is not counted. */
  const explore: StartedExplorer['explore'] = (query, use) =>
    started().explore(query, (explorer) => {
      explorer.takeRequests()
      return use(explorer)
    })

  const getState = (page: Page): Readonly<Record<string, string>> =>
    Object.fromEntries(new URL(page.url()).searchParams)

  /** Finds a button by its text or its label. */
  const button = (page: Page, name: string) =>
    page.locator(`::-p-aria([name="${name}"][role="button"])`)

  /** Does something, and returns the state that the address has afterwards, and how many requests it took. */
  async function step({ page, act, takeRequests }: ExplorerPage, action: () => Promise<unknown>) {
    await act(action)
    const requests = takeRequests().map((request) => new URL(request.url()).pathname)
    return { state: getState(page), requests }
  }

  const readFocused = (page: Page) =>
    page.evaluate(
      `document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent`,
    )

  const BATCH = ['/v1/analytics/batch']

  test('the period: a preset, a range, the one before, the one after, and back', () =>
    explore('', async (explorer) => {
      const { page } = explorer
      const openMenu = () => page.locator('.period summary').click()
      await openMenu()
      expect(await step(explorer, () => button(page, 'Last 7 days').click())).toEqual({
        state: { period: '7days' },
        requests: BATCH,
      })
      expect(await readText(page, '.period summary')).toBe('Last 7 days')
      await openMenu()
      await page.evaluate(`document.querySelector('input[name=from]').value = '2026-01-01'`)
      await page.evaluate(`document.querySelector('input[name=to]').value = '2026-01-31'`)
      const january = await step(explorer, () => button(page, 'Show').click())
      expect(january).toEqual({ state: { period: '2026-01-01..2026-01-31' }, requests: BATCH })
      const before = await step(explorer, () => button(page, 'The period before').click())
      expect(before.state).toEqual({ period: '2025-12-01..2025-12-31' })
      // The page still knows the answers.
      const after = await step(explorer, () => button(page, 'The period after').click())
      expect(after).toEqual({ ...january, requests: [] })
      const back = await step(explorer, () => page.goBack())
      expect(back).toEqual({ ...before, requests: [] })
      expect(await readText(page, '.period summary')).toBe('1 Dec 2025 – 31 Dec 2025')
    }))

  test('the comparison, the time zone, the interval and the metric of the chart', () =>
    explore(PERIOD, async (explorer) => {
      const { page } = explorer
      const choose = (name: string, value: string) =>
        step(explorer, () => page.select(`select[name=${name}]`, value))
      const period = '2026-02-01..2026-02-28'
      const compare = async (name: string) => {
        await page.click('.compare summary')
        return step(explorer, () => button(page, name).click())
      }
      expect(await compare('vs. same weekdays before')).toEqual({
        state: { period, compare: 'weekdays' },
        requests: BATCH,
      })
      await page.click('.compare summary')
      await page.evaluate(`document.querySelector('.compare [name=from]').value = '2025-12-20'`)
      await page.evaluate(`document.querySelector('.compare [name=to]').value = '2025-12-24'`)
      const dates = await step(explorer, () => page.click('.compare [type=submit]'))
      expect(dates).toEqual({
        state: { period, compare: '2025-12-20..2025-12-24' },
        requests: BATCH,
      })
      expect(await readText(page, '.legend .of-compared')).toBe('20 Dec 2025 – 24 Dec 2025')
      expect(await readText(page, '.compare summary')).toBe('vs. 20 Dec 2025 – 24 Dec 2025')
      const off = await compare('No comparison')
      expect(off.state).toEqual({ period, compare: 'off' })
      expect(await page.$$('.change, .compared')).toEqual([])
      const zone = 'Asia/Tokyo'
      expect(await choose('zone', zone)).toEqual({
        state: { period, compare: 'off', zone },
        requests: BATCH,
      })
      const week = await choose('interval', 'week')
      expect(week).toEqual({
        state: { period, compare: 'off', zone, interval: 'week' },
        requests: BATCH,
      })
      const visits = await step(explorer, () => page.locator('.card[data-metric=visits]').click())
      expect(visits).toEqual({ state: { ...week.state, metric: 'visits' }, requests: BATCH })
      expect(await readAttribute(page, 'section.chart', 'aria-label')).toBe('Visits over time')
    }))

  test('filters: a click on a row, a second value, the opposite, any of them, none, back, and each removed', () =>
    explore(PERIOD, async (explorer) => {
      const { page } = explorer
      const clickRow = (panel: string, value: string) =>
        step(explorer, () =>
          page.locator(`[data-panel=${panel}] tr[data-value="${value}"] button`).click(),
        )
      const country = await clickRow('places', 'DE')
      expect(country.requests).toEqual(BATCH)
      expect(JSON.parse(country.state['filters']!)).toEqual([['country', 'is', 'DE']])
      expect(await readText(page, '.pills .pill')).toBe('Country is Germany')
      // The panel goes on to what else is to be seen of the country.
      expect(JSON.parse(country.state['tabs']!)).toEqual(['places', 'region'])
      await clickRow('devices', 'Firefox')
      const any = await step(explorer, () => page.select('select[name=join]', 'or'))
      expect(any.state).toMatchObject({ join: 'or' })
      await page.click('.pill')
      const negated = await step(explorer, () => button(page, 'Exclude instead').click())
      expect(JSON.parse(negated.state['filters']!)).toEqual([
        ['country', 'is_not', 'DE'],
        ['browser', 'is', 'Firefox'],
      ])
      expect(await readFocused(page)).toBe('Country is not Germany')
      const cleared = await step(explorer, () => button(page, 'Clear all').click())
      expect(cleared.state['filters']).toBeUndefined()
      expect(await readFocused(page)).toBe('Filter')
      await step(explorer, () => page.goBack())
      await step(explorer, () => button(page, 'Remove: Country is not Germany').click())
      expect(await readFocused(page)).toBe('Browser is Firefox')
      const none = await step(explorer, () => button(page, 'Remove: Browser is Firefox').click())
      expect(none.state['filters']).toBeUndefined()
      expect(await readFocused(page)).toBe('Filter')
      expect(await page.$$('.pill')).toEqual([])
    }))

  test('a filter on an event keeps all of the visits that have it; its opposite all of the others', () =>
    explore(PERIOD, async (explorer) => {
      const { page, act } = explorer
      const readCards = async () => (await readTexts(page, '.card strong data')).slice(1, 4)
      expect(await readCards()).toEqual(['74', '187', '15'])
      expect(await readTexts(page, '[data-panel=events] thead th')).toEqual([
        ...['Event', 'Events', 'of users', 'Change'],
      ])
      const readShare = async () => {
        const share = '[data-panel=events] tr[data-value=signup] .share'
        return [await readText(page, share), await readAttribute(page, share, 'title')]
      }
      expect(await readShare()).toEqual(['18.8%', '6 of 32 users'])
      await act(() => page.locator('[data-panel=events] tr[data-value=signup] button').click())
      expect(await readText(page, '.pills .pill')).toBe('Visit with event signup')
      expect(await readCards()).toEqual(['15', '39', '15'])
      expect(await readShare()).toEqual(['100.0%', '6 of 6 users'])
      expect(await readText(page, '[data-panel=pages] tbody data')).not.toBe('0')
      await act(() => page.select('[data-panel=events] .tabs select', 'event:prop:plan'))
      expect(await readTexts(page, '[data-panel=events] tbody tr')).toEqual([
        'pro866.7%+14.3%',
        'free733.3%−12.5%',
      ])
      await page.click('.pill')
      await act(() => button(page, 'Exclude instead').click())
      expect(await readCards()).toEqual(['59', '148', '0'])
    }))

  test('a dialog that is closed is not opened again by going back', () =>
    explore(PERIOD, async (explorer) => {
      const { page } = explorer
      const opened = () => step(explorer, () => button(page, 'Details: Places: Country').click())
      const closed = { state: { period: '2026-02-01..2026-02-28', metric: 'visits' }, requests: [] }
      await step(explorer, () => page.locator('.card[data-metric=visits]').click())
      expect((await opened()).state).toHaveProperty('details')
      await step(explorer, () => page.locator('dialog thead th button').click())
      await page.keyboard.press('Escape')
      expect(await step(explorer, () => page.keyboard.press('Escape'))).toEqual(closed)
      expect(await page.$$('dialog')).toEqual([])
      await opened()
      expect(await step(explorer, () => page.locator('dialog .close').click())).toEqual(closed)
      expect((await step(explorer, () => page.goBack())).state).toEqual({
        period: '2026-02-01..2026-02-28',
      })
    }))

  test('the dialog of a link is closed in its place', () =>
    explore(`${PERIOD}&details=["country","","users","desc",0]`, async (explorer) => {
      const { page } = explorer
      const length = await page.evaluate('history.length')
      const { state } = await step(explorer, () => page.keyboard.press('Escape'))
      expect(state).toEqual({ period: '2026-02-01..2026-02-28' })
      expect(await page.evaluate('history.length')).toBe(length)
    }))

  test('the chart: the pointer reads a point, and a click on it zooms in to its hours', () =>
    explore(PERIOD, async (explorer) => {
      const { page } = explorer
      const plot = (await (await page.$('.plot'))!.boundingBox())!
      await page.mouse.move(plot.x + plot.width - 20, plot.y + 80)
      const tip = await readText(page, '.tip')
      expect(tip).toContain('Sat 28 Feb 2026')
      expect(tip).toContain('· Sat 31 Jan 2026')
      const last = await readTexts(page, '.as-table tbody tr:last-child data')
      for (const value of last) expect(tip).toContain(value)
      const zoomed = await step(explorer, () =>
        page.mouse.click(plot.x + plot.width - 20, plot.y + 80),
      )
      expect(zoomed).toEqual({ state: { period: '2026-02-28..2026-02-28' }, requests: BATCH })
      expect(await page.$$('.as-table tbody tr')).toHaveLength(24)
    }))

  test('while a change loads, all numbers of before are dimmed', () =>
    explore('?tabs=["users","retention"]', async ({ page, act }) => {
      const held: HTTPRequest[] = []
      await page.setRequestInterception(true)
      page.on('request', (request) => held.push(request))
      await page.keyboard.press('w')
      await page.waitForSelector('.old')
      const numbers = `main data:not(.old *)`
      expect(await readTexts(page, numbers)).toEqual([])
      expect(await page.$$('.cards .old data')).not.toEqual([])
      expect(await page.$$('[data-panel=users] .old data')).not.toEqual([])
      await act(async () => {
        await page.setRequestInterception(false)
        for (const request of held) await request.continue()
      })
      expect(await page.$$('.old')).toEqual([])
      expect(await page.$$('.cards data')).not.toEqual([])
    }))

  test('the chart by touch: a tap reads a point, a button zooms in, a drag reads more, and a finger scrolls past it', () =>
    explore(PERIOD, async (explorer) => {
      const { page, act } = explorer
      await act(() => page.setViewport({ width: 390, height: 700, hasTouch: true, isMobile: true }))
      await page.evaluate(`document.querySelector('.plot').scrollIntoView({ block: 'center' })`)
      const plot = (await (await page.$('.plot'))!.boundingBox())!
      const { touchscreen } = page
      const y = plot.y + 100
      explorer.takeRequests()
      await touchscreen.tap(plot.x + plot.width - 20, y)
      await page.waitForSelector('.tip')
      expect(await readText(page, '.tip')).toContain('Sat 28 Feb 2026')
      expect(getState(page)).toEqual({ period: '2026-02-01..2026-02-28' })
      expect(explorer.takeRequests()).toEqual([])
      const zoomed = await step(explorer, async () => {
        const target = (await (await page.$('.tip button'))!.boundingBox())!
        await touchscreen.tap(target.x + target.width / 2, target.y + target.height / 2)
        await page.waitForFunction(
          `location.search.includes('..2026-02-28') && !document.querySelector('.tip')`,
        )
      })
      expect(zoomed).toEqual({ state: { period: '2026-02-28..2026-02-28' }, requests: BATCH })
      await touchscreen.touchStart(plot.x + plot.width - 20, y)
      for (let x = plot.width - 40; x > 40; x -= 20) await touchscreen.touchMove(plot.x + x, y)
      await touchscreen.touchEnd()
      await page.waitForFunction(
        `document.querySelector('.tip')?.textContent.includes('28 Feb, 00:00')`,
      )
      expect(explorer.takeRequests()).toEqual([])
      const before = await page.evaluate('scrollY')
      await touchscreen.touchStart(plot.x + 250, y)
      for (let i = 1; i <= 10; i++) await touchscreen.touchMove(plot.x + 250, y - i * 8)
      await touchscreen.touchEnd()
      await page.waitForFunction(
        `scrollY > ${String(before)} && document.querySelector('.tip') === null`,
      )
    }))

  test.each([
    ['asc', ['No row has lost.']],
    ['desc', []],
  ])('movers in the order %s say whether there are none', (direction, notes) =>
    // Three days are compared with four weeks.
    explore(
      `?period=2026-02-01..2026-02-28&compare=2025-12-20..2025-12-22&details=["country","","users","${direction}",0,"difference"]`,
      async ({ page }) => {
        await page.waitForSelector('dialog tbody tr')
        expect(await readTexts(page, 'dialog .limits')).toEqual(notes)
        expect(await readText(page, 'dialog .scope')).toBe(
          '1 Feb 2026 – 28 Feb 2026, UTC, compared with 20 Dec 2025 – 22 Dec 2025',
        )
      },
    ),
  )

  test.each([
    ['the one that still runs', '?period=7days', 1],
    ['none of the past', PERIOD, 0],
    // From Sunday to Saturday, and from Monday to Sunday.
    ['a first and a last week of some days', `${PERIOD}&interval=week`, 2],
    ['no whole week', '?period=2026-02-02..2026-02-22&interval=week', 0],
  ])('of the buckets, it dashes %s', (_which, query, count) =>
    explore(query, async ({ page }) => {
      expect(await page.$$('.line.partial')).toHaveLength(count)
    }),
  )

  test('a link shows the same page in another tab', () =>
    explore(
      `${PERIOD}&metric=pageviews&tabs=["pages","page:exit"]&zone=Europe/Berlin`,
      async (first) => {
        const link = new URL(first.page.url())
        await explore(link.search, async (second) => {
          expect(await second.read()).toEqual(await first.read())
        })
      },
    ))
})
