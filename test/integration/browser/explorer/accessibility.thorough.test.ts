/** The explorer in a real browser: for people who see, hear, type, print, or have a phone. */
import { expect, test } from '@jest/globals'
import { readFile } from 'node:fs/promises'
import type { Page } from 'puppeteer-core'
import { packagePath } from '../../../../src/lib/package-path.js'
import { describeExplorer } from './describe-explorer.js'
import { openExplorer } from './explorer-page.js'
import { isShown, readAttribute, readTexts } from './read-page.js'

const DETAILS = encodeURIComponent(JSON.stringify(['page:path', '', 'users', 'desc', 0]))

/** Runs axe in the page. Returns what it finds: a rule, and where it is broken. */
async function findFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(await readFile(packagePath('node_modules/axe-core/axe.min.js'), 'utf8'))
  return (await page.evaluate(`axe.run().then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ': ' + target.join(' '))))`)) as string[]
}

describeExplorer('the explorer', (started) => {
  const STATES = [
    ['the page', ''],
    [
      'the page with filters and retention',
      '?filters=[["country","is","DE"],["browser","is","Safari"]]&tabs=["users","retention"]',
    ],
    ['the page with a goal', '?goal=pro&metric=conversion_rate&filters=[["weekday","is","6"]]'],
    ['the dialog', `?details=${DETAILS}`],
    ['a period without events', '?period=2020-01-01..2020-01-31'],
  ] as const

  test.each(
    STATES.flatMap(([name, query]) =>
      (['light', 'dark'] as const).map((scheme) => [name, scheme, query] as const),
    ),
  )('axe finds nothing on %s, %s', async (_name, scheme, query) => {
    const { page, act, close } = await openExplorer(started().browser, started().service, query)
    await act(() => page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]))
    await page.evaluate(
      `document.querySelectorAll('details.as-table').forEach((one) => { one.open = true })`,
    )
    expect(await findFaults(page)).toEqual([])
    await close()
  })

  const OPENED: readonly (readonly [opened: string, (page: Page) => Promise<unknown>])[] = [
    ['.period .opened', (page) => page.click('.period summary')],
    ['.compare .opened', (page) => page.click('.compare summary')],
    ['.filter .opened', (page) => page.click('.filter summary')],
    ...(['weekday', 'hour', 'segment'] as const).map(
      (field) =>
        [
          `.choices.of-${field}`,
          async (page: Page) => {
            await page.evaluate(`document.querySelector('.filter').open = true`)
            await page.waitForSelector('select[name=filter-field] [value=segment]')
            await page.select('select[name=filter-field]', field)
            await page.click('.filter .choices input')
          },
        ] as const,
    ),
    [
      '.search [aria-selected=true]',
      async (page) => {
        await page.type('input[name=search]', 'fr')
        await page.waitForFunction(`document.querySelectorAll('[role=option]').length > 2`)
        await page.keyboard.press('ArrowDown')
      },
    ],
    [
      '[data-panel=pages] .query pre',
      async (page) => {
        await page.click('[data-panel=pages] .query summary')
        await page.waitForSelector('[data-panel=pages] .query pre')
      },
    ],
    ['.shortcuts', (page) => page.click('.foot button')],
  ]

  test.each(['light', 'dark'] as const)(
    'axe finds nothing on menus, suggestions and the list of shortcuts, %s',
    async (scheme) => {
      const { page, act, close } = await openExplorer(started().browser, started().service)
      await act(() => page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]))
      for (const [opened, open] of OPENED) {
        await open(page)
        expect(await findFaults(page)).toEqual([])
        expect(await isShown(page, opened)).toBe(true)
        await page.keyboard.press('Escape')
      }
      await close()
    },
  )

  test.each([390, 800, 1000, 1280, 1440])(
    'every menu of the bar and the tip of the chart lie on a screen of %i pixels, and the filter can be chosen by a tap',
    async (width) => {
      const { page, close } = await openExplorer(started().browser, started().service, '?goal=pro')
      await page.setViewport({ width, height: 800 })
      await page.evaluate(`document.querySelector('.more').click()`)
      const requireOnScreen = async (selector: string): Promise<void> => {
        const { left, right } = (await page.evaluate(
          `document.querySelector('${selector}').getBoundingClientRect().toJSON()`,
        )) as { left: number; right: number }
        expect({ selector, isOn: left >= 0 && right <= width }).toEqual({ selector, isOn: true })
      }
      for (const menu of ['.period', '.compare', '.filter', '.share']) {
        await page.click(`${menu} summary`)
        if (menu === '.filter') await page.select('select[name=filter-field]', 'hour')
        await requireOnScreen(`${menu} .opened`)
        if (menu === '.filter') await page.click('.filter .choices input')
        await page.keyboard.press('Escape')
      }
      await page.hover('.plot')
      await page.waitForSelector('.tip')
      await requireOnScreen('.tip')
      await close()
    },
  )

  test.each([
    [1280, `&goal=pro&zone=Europe/Berlin`],
    [1400, `&goal=pro`],
    [1551, `&goal=pro`],
  ])('the bar is one row on a screen of %i pixels', async (width, query) => {
    const { service, browser } = started()
    const dates = `?period=2026-02-01..2026-02-28${query}`
    const { page, close } = await openExplorer(browser, service, dates)
    await page.setViewport({ width, height: 800 })
    expect(await page.evaluate(`document.querySelector('.bar').offsetHeight`)).toBeLessThan(70)
    await close()
  })

  test.each([1280, 1400, 1551, 1640])(
    'what takes much room in the bar is cut on a screen of %i pixels, and said where one points at it',
    async (width) => {
      const { service, browser } = started()
      const dates =
        '?period=2026-01-31T10:00:00Z..2026-02-28T23:00:00Z&compare=2025-12-12T10:00:00Z..2026-01-28T23:00:00Z'
      const long = 'a-goal-whose-name-is-as-long-as-names-of-goals-are'
      const path = `/a-path/${long}/${long}`
      const filters = `[["page:path","is","${path}"]]`
      const query = `${dates}&zone=America/Argentina/Buenos_Aires&goal=${long}&filters=${filters}`
      const { page, close } = await openExplorer(browser, service, query)
      await page.setViewport({ width, height: 800 })
      await page.waitForSelector('select[name=goal]')
      const heights = `['.row', '.pills'].map((one) => document.querySelector(one).offsetHeight)`
      for (const height of (await page.evaluate(heights)) as readonly number[]) {
        expect(height).toBeLessThan(50)
      }
      expect(await page.evaluate(`document.documentElement.scrollWidth`)).toBe(width)
      const [period] = await readTexts(page, '.period summary')
      expect(period).toMatch(/2026.*2026/)
      expect(await readAttribute(page, '.period summary', 'title')).toBe(period)
      expect(await readAttribute(page, 'select[name=goal]', 'title')).toBe(`Goal: ${long}`)
      expect(await readAttribute(page, '.pill', 'title')).toBe(`Edit: Visit with path ${path}`)
      await close()
    },
  )

  test('axe finds nothing on the form for the key', async () => {
    const page = await started().browser.newPage()
    await page.goto(`${started().service.address}/explore`)
    await page.waitForSelector('input[name=key]')
    expect(await findFaults(page)).toEqual([])
    await page.close()
  })

  test.each(STATES)('%s is not wider than a screen of 320 pixels', async (_name, query) => {
    const { page, act, close } = await openExplorer(started().browser, started().service, query)
    await act(() => page.setViewport({ width: 320, height: 640 }))
    // What scrolls on its own may be wider.
    const found = await page.evaluate(`({
      width: document.documentElement.scrollWidth,
      wide: [...document.querySelectorAll('main *, header *')]
        .filter((one) => one.closest('.scroll, pre, dialog, .as-table, .hidden, svg, .opened') === null)
        .filter((one) => one.getBoundingClientRect().right > 321)
        .map((one) => one.className || one.tagName),
    })`)
    expect(found).toEqual({ width: 320, wide: [] })
    await close()
  })

  test('the keyboard alone reaches every control, in the order of the page', async () => {
    const { page, close } = await openExplorer(
      started().browser,
      started().service,
      '?filters=[["country","is","DE"]]',
    )
    await page.setViewport({ width: 1200, height: 900 })
    const listed = (await page.evaluate(`(() => {
      const all = [...document.querySelectorAll('button, select, summary, input, a[href], [tabindex="0"]')]
      window.controls = all.filter((one) => !one.disabled && one.checkVisibility({ contentVisibilityAuto: true }))
      return window.controls.length
    })()`)) as number
    const reached: number[] = []
    await page.evaluate(`document.activeElement?.blur()`)
    for (let i = 0; i < listed; i++) {
      await page.keyboard.press('Tab')
      reached.push(
        (await page.evaluate(`window.controls.indexOf(document.activeElement)`)) as number,
      )
    }
    expect(reached).toEqual(Array.from({ length: listed }, (_, i) => i))
    await close()
  })

  test('the first control leads the keyboard past the bar, and leaves the address', async () => {
    const { page, close } = await openExplorer(started().browser, started().service)
    const address = page.url()
    const isIn = (selector: string) =>
      page.evaluate(`document.activeElement.closest('${selector}') !== null`)
    await page.keyboard.press('Tab')
    expect(await page.evaluate(`document.activeElement.textContent`)).toBe('Skip to the numbers')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect([await isIn('main .card'), page.url()]).toEqual([true, address])
    await close()
  })

  test('the keyboard reads the chart, zooms in, filters, and leaves the menu', async () => {
    const { page, act, close } = await openExplorer(
      started().browser,
      started().service,
      '?period=2026-02-01..2026-02-28',
    )
    const { keyboard } = page
    await page.focus('.plot')
    await keyboard.press('Home')
    await keyboard.press('ArrowRight')
    expect(await readAttribute(page, '.plot', 'aria-valuetext')).toMatch(
      /^Mon 2 Feb 2026: \d+ Users, before: \d+/,
    )
    await act(() => keyboard.press('Enter'))
    expect(new URL(page.url()).searchParams.get('period')).toBe('2026-02-02..2026-02-02')
    await page.focus('[data-panel=places] tbody button')
    await act(() => keyboard.press('Enter'))
    expect(new URL(page.url()).searchParams.get('filters')).toMatch(/^\[\["country","is",/)
    await page.focus('.period summary')
    await keyboard.press('Enter')
    await keyboard.press('Tab')
    expect(await page.evaluate(`document.activeElement.textContent`)).toBe('Last 30 minutes')
    await keyboard.press('Escape')
    expect(await page.evaluate(`document.activeElement.tagName`)).toBe('SUMMARY')
    expect(await page.$('.period details[open]')).toBeNull()
    await close()
  })

  test('what gets the focus lies below the bar', async () => {
    const { page, close } = await openExplorer(started().browser, started().service)
    await page.setViewport({ width: 900, height: 400 })
    await page.evaluate(`document.querySelector('.foot button').focus()`)
    for (let i = 0; i < 60; i++) {
      await page.keyboard.down('Shift')
      await page.keyboard.press('Tab')
      await page.keyboard.up('Shift')
      const covered = await page.evaluate(`(() => {
        const [bar, one] = [document.querySelector('.bar'), document.activeElement]
        const [below, { top, height }] = [bar.getBoundingClientRect().bottom, one.getBoundingClientRect()]
        return bar.contains(one) || top + Math.min(height, 20) > below ? '' : one.outerHTML
      })()`)
      expect(covered).toBe('')
    }
    await close()
  })

  test('a long name of the project, which comes late, moves nothing', async () => {
    const { page, close } = await openExplorer(started().browser, started().service)
    for (const width of [1200, 800, 390]) {
      await page.setViewport({ width, height: 800 })
      const measure = `document.querySelector('main').getBoundingClientRect().top`
      const before = await page.evaluate(measure)
      await page.evaluate(`document.querySelector('h1').textContent = 'A long name '.repeat(20)`)
      expect(await page.evaluate(measure)).toBe(before)
      await page.evaluate(`document.querySelector('h1').textContent = 'Shop'`)
    }
    await close()
  })

  test('on paper there are the numbers, and not what only works on a screen', async () => {
    const { page, close } = await openExplorer(
      started().browser,
      started().service,
      '?period=2026-02-01..2026-02-28&zone=Europe/Berlin&filters=[["country","is","DE"],["browser","is_not","Safari"]]',
    )
    const shown = () =>
      Promise.all(
        [
          '.card data',
          '.plot svg',
          '.rows data',
          '.controls',
          '.query',
          '.bar',
          '.paper-header',
        ].map((selector) => isShown(page, selector)),
      )
    expect(await shown()).toEqual([true, true, true, true, true, true, false])
    await page.emulateMediaType('print')
    expect(await shown()).toEqual([true, true, true, false, false, false, true])
    expect(await readTexts(page, '.paper-header p')).toEqual([
      'Known numbers',
      'https://example.com',
      '1 Feb 2026 – 28 Feb 2026, Europe/Berlin, compared with 4 Jan 2026 – 31 Jan 2026',
      'Filters: Country is Germany and Browser is not Safari',
      expect.stringMatching(/^As of \d+ [A-Z][a-z]{2}, \d\d:\d\d$/),
    ])
    await close()
  })
})
