/** The explorer in a real browser: every number on it is the one that the API answers to the query in its menu. */
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { HTTPRequest } from 'puppeteer-core'
import type { AnalyticsQueryResponse } from '../../../../src/contract/api.js'
import { expectRows, expectShares } from './expected.js'
import { describeExplorer, type StartedExplorer } from './describe-explorer.js'
import type { ExplorerPage } from './explorer-page.js'
import { askApi, MARKUP } from './project.js'
import { readAttribute, readText, readTexts } from './read-page.js'
import { formatState } from '../../../../src/explorer/state/address.js'
import { scaled } from '../../../support/effort.js'
import { explorerStates } from './states.js'

/** When the first event of the project was. */
const SINCE = Date.parse('2025-12-09T00:00:00Z')

/** What the page shows of an answer: without a comparison with a time when nothing was counted yet. */
function hideUnmeasured(answer: unknown): unknown {
  const { comparison, data, ...others } = answer as AnalyticsQueryResponse
  if (comparison === undefined || Date.parse(comparison.period.from) >= SINCE) return answer
  return { ...others, data: data.map(({ group, metrics }) => ({ group, metrics })) }
}

/** Where the page is at first, as links to it say. The period is over, so that its numbers do not change. */
const PERIOD = '?period=2026-02-01..2026-02-28'

/** Lists the tabs that are not open, with their panels; some are options of a choice. */
const LIST_CLOSED_TABS = `[...document.querySelectorAll('section.panel .tabs :is(button[aria-pressed=false], option:enabled)')].map((tab) => ({
  panel: tab.closest('section').dataset.panel,
  option: tab.value,
  index: [...document.querySelectorAll('section.panel .tabs button')].indexOf(tab),
}))`

const LIST_EVENT_TABS = `[...document.querySelectorAll('section[data-panel=events] .tabs :is(button, option:enabled)')].map((tab) => tab.textContent)`

describeExplorer('the explorer', (started) => {
  const explore: StartedExplorer['explore'] = (query, use) => started().explore(query, use)

  /** Checks each number of the page. Returns how many rows the parts have. */
  async function check({ read }: ExplorerPage): Promise<Readonly<Record<string, number>>> {
    const parts = await read()
    const asked = parts.map(({ query }) => query)
    const answers = (await askApi(started().service, asked)).map(hideUnmeasured)
    for (const [i, part] of parts.entries()) {
      const rows = part.rows.map(({ about, values }) => ({ about, values }))
      expect({ part: part.name, rows }).toEqual({
        part: part.name,
        rows: expectRows(part, answers[i]),
      })
      const { totals } = answers[i] as AnalyticsQueryResponse
      if (totals !== undefined) {
        expect(part.rows.map(({ texts }) => texts[1])).toEqual(
          expectShares(answers[i] as AnalyticsQueryResponse),
        )
      }
    }
    return Object.fromEntries(parts.map(({ name, rows }) => [name, rows.length]))
  }

  const listBatches = (requests: readonly HTTPRequest[]) =>
    requests.filter((request) => request.url().endsWith('/v1/analytics/batch'))

  test('the known numbers, from one request, and no other host is asked', () =>
    explore(PERIOD, async (explorer) => {
      // The icon is in the page itself.
      const requests = explorer.takeRequests().filter((one) => !one.url().startsWith('data:'))
      expect(requests.map((request) => new URL(request.url()).origin)).toEqual(
        requests.map(() => started().service.address),
      )
      expect(listBatches(requests)).toHaveLength(1)
      expect(explorer.page.url()).toBe(`${started().service.address}/explore${PERIOD}`)
      const [cards] = await explorer.read()
      expect(cards!.rows.map(({ name, texts: [text] }) => [name, text])).toEqual([
        ['Users', '32'],
        ['Visits', '74'],
        ['Pageviews', '187'],
        ['Events', '15'],
        ['Bounce rate', '20.3%'],
        ['Visit duration', '1m 32s'],
      ])
      expect(await explorer.page.evaluate(`document.querySelector('h1').textContent`)).toBe(
        'Known numbers',
      )
      // Each property is a choice.
      expect(await explorer.page.evaluate(LIST_EVENT_TABS)).toEqual(['Event', MARKUP, 'plan'])
    }))

  test.each([
    ['a month', PERIOD],
    ['the last 30 days', ''],
    ['a day by the hour', '?period=2026-02-27..2026-02-27'],
    ['a quarter by the week', '?period=2025-12-01..2026-02-28&interval=week&metric=bounce_rate'],
    ['without a comparison', `${PERIOD}&compare=off&metric=visit_duration`],
    [
      'the same weekdays, in another zone, with a filter',
      `${PERIOD}&compare=weekdays&metric=pageviews&zone=Asia/Kolkata&filters=[["country","is","DE"]]`,
    ],
    [
      'the year before, with one of two filters',
      `${PERIOD}&compare=previous_year&metric=events&filters=[["country","is","DE"],["browser","is","Safari"]]&join=or`,
    ],
    [
      'visits with an event, and the values of its property',
      `${PERIOD}&filters=[["event:name","is","signup"],["event:prop:plan","is_not","free"]]&tabs=["events","event:prop:plan"]`,
    ],
    ['no event', '?period=2020-02-01..2020-02-28'],
  ])('%s: the numbers are those of the queries', (_what, query) =>
    explore(query, async (explorer) => {
      expect(await check(explorer)).toMatchObject({ cards: 6, chart: expect.any(Number) })
    }),
  )

  test('the sums and percentiles of a property: in one currency, and that there are several', () => {
    const tabs = `tabs=${encodeURIComponent(JSON.stringify(['events', `event:prop:${MARKUP}`]))}`
    return explore(`?period=2025-12-01..2026-02-28&${tabs}`, async (explorer) => {
      const { page, act } = explorer
      expect(await check(explorer)).not.toHaveProperty('numbers')
      const note = '[data-panel=events] .limits'
      expect(await readText(page, note)).toContain('The numbers are in several currencies.')
      await act(() => page.locator(`${note} button`).click())
      expect(await check(explorer)).toMatchObject({ numbers: 5 })
      // Plans are no numbers.
      await act(() => page.select('[data-panel=events] .tabs select', 'event:prop:plan'))
      expect(await check(explorer)).not.toHaveProperty('numbers')
    })
  })

  test.each<[what: string, query: string, cards?: number]>([
    ['a goal of an event, on the chart', `${PERIOD}&goal=pro&metric=conversions`],
    [
      'a goal of a page, by its rate, without a comparison, by entry pages',
      `${PERIOD}&goal=pricing&metric=conversion_rate&compare=off&tabs=["pages","page:entry"]`,
    ],
    [
      'a goal with filters, and the values of a property',
      `${PERIOD}&goal=pro&filters=[["event:name","is","signup"],["country","is_not","DE"]]&tabs=["events","event:prop:plan"]`,
    ],
    ['a goal with a value, on the chart', `${PERIOD}&goal=paid&metric=value`, 9],
    [
      'the details of a goal with a value, by its differences',
      `${PERIOD}&goal=paid&details=${encodeURIComponent(JSON.stringify(['country', '', 'value', 'desc', 0, 'difference']))}`,
      9,
    ],
    ['a goal nobody reaches', '?period=2020-02-01..2020-02-28&goal=pro&metric=conversion_rate'],
    ...(
      [
        ['page:path', 'conversions', 'value'],
        ['country', 'conversion_rate', 'difference'],
        ['event:prop:plan', 'conversions', 'change'],
      ] as const
    ).map(([tab, orderBy, view]): [string, string] => [
      `the details of ${tab}, by the ${orderBy} of a goal`,
      `${PERIOD}&goal=pricing&details=${encodeURIComponent(JSON.stringify([tab, '', orderBy, 'desc', 0, view]))}`,
    ]),
  ])('%s: the numbers are those of the queries', (_what, query, cards = 8) =>
    explore(query, async (explorer) => {
      expect(await check(explorer)).toMatchObject({ cards, chart: expect.any(Number) })
    }),
  )

  const RANDOM_STATES = fc.sample(explorerStates, { numRuns: scaled(2), seed: 20260301 })

  test.each(RANDOM_STATES.map((state) => [`?${formatState(state)}`]))(
    'in the random state %s, the numbers are those of the queries',
    (query) =>
      explore(query, async (explorer) => {
        expect(await check(explorer)).toMatchObject({ cards: expect.any(Number) })
      }),
  )

  const TOO_MANY = 'more than the 1,000 that the chart shows: the interval is automatic.'

  test.each([
    [`${PERIOD}&interval=hour`, 'hour', []],
    [
      '?period=2025-12-01..2026-02-28&interval=hour',
      'auto',
      [`By hour there would be 2,160 points, ${TOO_MANY}`],
    ],
    // The project has events since 9 December, 82 days and 13 hours.
    [
      '?period=all&interval=hour&metric=visits',
      'auto',
      [`By hour there would be 1,981 points, ${TOO_MANY}`],
    ],
    ['?period=all&interval=day&metric=events', 'day', []],
    [
      '?period=2026-02-27..2026-02-27&interval=month',
      'auto',
      ['By month there would be one point: the interval is automatic.'],
    ],
    [
      '?period=1900-01-01..2026-02-28',
      'auto',
      ['Only the first 1,000 of 1,514 points are shown. A shorter period has fewer.'],
    ],
  ])('%s: the chart sums to its card, or says what it leaves out', (query, interval, notes) =>
    explore(
      `${query}&compare=off${query.includes('metric') ? '' : '&metric=pageviews'}`,
      async (explorer) => {
        const { page, act, read } = explorer
        const select = `document.querySelector('select[name=interval]').value === '${interval}'`
        // When all time starts is known from the first answers.
        await act(() => page.waitForFunction(select))
        expect(await readTexts(page, '.chart .limits')).toEqual(notes)
        const [cards, chart] = await read()
        const card = await readAttribute(page, '.card[aria-pressed=true]', 'data-metric')
        const shown = cards!.rows.find(({ about }) => about === card)!.values[0]
        const sum = chart!.rows.reduce((total, { values: [value] }) => total + (value ?? 0), 0)
        expect(sum === shown).toBe(!notes.join().startsWith('Only'))
      },
    ),
  )

  test('every tab of every panel: one request each, and the numbers of its query', () =>
    explore(PERIOD, async (explorer) => {
      const { page, act, takeRequests } = explorer
      const tabs = (await page.evaluate(LIST_CLOSED_TABS)) as readonly {
        readonly panel: string
        readonly option: string
        readonly index: number
      }[]
      expect(tabs.length).toBeGreaterThan(15)
      const buttons = await page.$$('section.panel .tabs button')
      takeRequests()
      for (const { panel, option, index } of tabs) {
        await act(() =>
          index === -1
            ? page.select(`[data-panel=${panel}] .tabs select`, option)
            : buttons[index]!.click(),
        )
        // The menus ask which tables answered; the numbers are one request.
        expect(listBatches(takeRequests())).toHaveLength(1)
        const counts = await check(explorer)
        expect({ panel, isEmpty: counts[panel] === 0 }).toEqual({ panel, isEmpty: false })
      }
    }))

  test.each([
    ['page:path', ''],
    ['page:path', 'BLOG'],
    ['country', 'germany'],
    ['event:name', ''],
    [`event:prop:${MARKUP}`, ''],
  ])('the details of %s, searched for "%s": all metrics of all rows', (field, search) => {
    const details = JSON.stringify([field, search, 'users', 'desc', 0])
    return explore(`${PERIOD}&details=${encodeURIComponent(details)}`, async (explorer) => {
      expect((await check(explorer))['details']).toBeGreaterThan(0)
    })
  })

  test.each([
    ['utm_campaign', 'difference:users', 'asc'],
    ['page:path', 'difference:pageviews', 'desc'],
    ['country', 'change:users', 'desc'],
  ])('the %s that changed, by %s %s: with those that are gone', (field, orderBy, direction) => {
    const [view, metric] = orderBy.split(':')
    const details = JSON.stringify([field, '', metric, direction, 0, view])
    // The page is compared with a month in which pages and countries were others, at least in part.
    const filters = '[["page:path","is","/pricing","/a"],["browser","is","Safari"]]'
    return explore(
      `?period=2026-02-10..2026-02-14&filters=${filters}&details=${encodeURIComponent(details)}`,
      async (explorer) => {
        expect((await check(explorer))['details']).toBeGreaterThan(0)
        const { query } = (await explorer.read()).find(({ name }) => name === 'details')!
        expect(query).toMatchObject({ order_by: [[orderBy, direction]], include: { lost: true } })
      },
    )
  })

  test.each([
    ['["visit",["page:path","is","/"],["event:name","is","signup"]]', 2],
    [
      '[30,["page:path","is","/","/pricing"],["page:path","contains","DOC"],["event:prop:plan","is","pro"]]',
      3,
    ],
  ])('the funnel %s', (funnel, steps) =>
    explore(`${PERIOD}&filters=[["browser","is","Safari"]]&funnel=${funnel}`, async (explorer) => {
      const counts = await check(explorer)
      expect(counts['details']).toBe(steps)
    }),
  )

  test.each([
    ['["from","pages","page:path","is","/"]', '[["browser","is","Safari"]]'],
    ['["from","all","page:path","is","/","/pricing"]', '[["page:path","is","/pricing"]]'],
    ['["to","all","event:name","is","signup"]', '[]'],
    ['["to","pages","page:path","is","/nowhere"]', '[]'],
  ])('the journeys %s, filtered by %s', (journeys, filters) =>
    explore(`${PERIOD}&filters=${filters}&journeys=${journeys}`, async (explorer) => {
      await check(explorer)
    }),
  )

  test('the journeys of a page open from its panel, and a click on a step goes on from there', () =>
    explore(`${PERIOD}&filters=[["page:path","is","/pricing"]]`, async (explorer) => {
      const { page } = explorer
      const open = (await page.$('button[aria-label="Journeys: Pages: Path"]'))!
      await explorer.act(() => open.click())
      expect((await check(explorer))['details']).toBeGreaterThan(1)
      const find = async () => (await explorer.read()).find(({ name }) => name === 'details')!
      const before = await find()
      expect(before.query).toMatchObject({
        from: { filters: [{ field: 'page:path', operator: 'is', value: ['/pricing'] }] },
      })
      const next = before.rows.find(({ about }) => about.startsWith('1 page '))!
      const row = (await page.$(`dialog tr[data-value="${next.about}"] button`))!
      await explorer.act(() => row.click())
      await check(explorer)
      expect((await find()).query).toMatchObject({
        from: { filters: [{ value: [next.about.slice('1 page '.length)] }] },
      })
    }))

  test('names that are markup are text, and a click on one filters by it', () =>
    explore(PERIOD, async (explorer) => {
      const path = `/blog/${MARKUP}`
      const pages = (await explorer.read()).find(({ name }) => name === 'pages')!
      expect(pages.rows.map(({ name }) => name)).toContain(path)
      const rows = await explorer.page.$$('section[data-panel=pages] tbody tr')
      const index = pages.rows.findIndex(({ about }) => about === path)
      const value = await rows[index]!.$('button')
      await explorer.act(() => value!.click())
      await check(explorer)
      expect(await explorer.page.$$('main img, main b')).toEqual([])
      const [cards] = await explorer.read()
      expect(JSON.stringify(cards!.query)).toContain(JSON.stringify(path).slice(1, -1))
    }))
})
