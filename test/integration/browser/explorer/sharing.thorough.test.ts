/** What people add to the explorer and take from it, in a real browser: funnels, notes, links and files. */
import { expect, test } from '@jest/globals'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { packagePath } from '../../../../src/lib/package-path.js'
import { until } from '../../../support/until.js'
import { describeExplorer } from './describe-explorer.js'
import { readAttribute, readText, readTexts } from './read-page.js'

const PERIOD = '?period=2026-02-01..2026-02-28'

describeExplorer('on the explorer', (started) => {
  test('a funnel is built step by step, and is a part of the address', () =>
    started().explore(PERIOD, async ({ page, act }) => {
      await act(() => page.locator('::-p-aria([name="Funnel"][role="button"])').click())
      const add = async (field: string, value: string): Promise<void> => {
        await page.select('dialog select[name=filter-field]', field)
        await page.type('dialog input[name=filter-value]', value)
        await act(() => page.keyboard.press('Enter'))
      }
      await add('page:path', '/pricing')
      expect(await readTexts(page, 'dialog tbody td')).toEqual(['–', '–', '–', '–', '–'])
      await add('event:name', 'signup')
      const cells = await readTexts(page, 'dialog tbody td')
      expect(cells.slice(1, 4)).toEqual(['–', '100.0%', '–'])
      expect(cells[7]).toMatch(/%$/)
      await act(() => page.select('dialog select[name=within]', '7'))
      expect(JSON.parse(new URL(page.url()).searchParams.get('funnel')!)).toEqual([
        7,
        ['page:path', 'is', '/pricing'],
        ['event:name', 'is', 'signup'],
      ])
      await act(() => page.locator('dialog [aria-label^="Remove: "]').click())
      expect(await readTexts(page, 'dialog tbody th')).toEqual(['1. Event is signup×'])
      await act(() => page.keyboard.press('Escape'))
      expect(new URL(page.url()).search).toBe('?period=2026-02-01..2026-02-28')
    }))

  test('notes stand on the chart, are read with the point, and are listed', async () => {
    const { id } = started().service
    const notes = [
      { id: 'n1', at: '2026-02-10T09:12:44.120Z', until: null, text: 'Launch <b>', createdAt: '' },
      { id: 'n0', at: '2026-01-31T22:59:59Z', until: null, text: 'Before', createdAt: '' },
      { id: 'n3', at: '2026-02-28T23:00:00Z', until: null, text: 'After', createdAt: '' },
      { id: 'n2', at: '2026-02-10T23:30:00.000Z', until: null, text: 'Mail', createdAt: '' },
    ]
    await started().explore(`${PERIOD}&zone=Europe/Berlin`, async ({ page, act }) => {
      const asked: string[] = []
      await page.setRequestInterception(true)
      page.on('request', (request) => {
        const { pathname } = new URL(request.url())
        if (!pathname.endsWith('/notes')) return void request.continue()
        asked.push(pathname)
        return void request.respond({
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ notes }),
        })
      })
      await act(() => page.reload())
      await page.waitForSelector('.notes')
      expect(asked).toEqual([`/v1/projects/${id}/notes`])
      expect(await readTexts(page, '.notes li')).toEqual([
        '10 Feb, 10:12 Launch <b>',
        '11 Feb, 00:30 Mail',
      ])
      expect(await page.$$('.plot .note')).toHaveLength(2)
      await page.focus('.plot')
      await page.keyboard.press('Home')
      for (let i = 1; i < 10; i++) await page.keyboard.press('ArrowRight')
      expect(await readText(page, '.tip .note')).toBe('Launch <b>')
      expect(await readAttribute(page, '.plot', 'aria-valuetext')).toMatch(/, Launch <b>$/)
    })
  })

  test('a link with fixed dates that shows the same, and the files of all panels', async () => {
    const downloads = await mkdtemp(packagePath('dist/downloads-'))
    await started().explore('?period=7days', async ({ page, act }) => {
      const cards = await readTexts(page, '.card')
      const client = await page.createCDPSession()
      await client.send('Page.setDownloadBehavior', {
        behavior: 'allow',
        downloadPath: downloads,
      })
      await page.evaluate(
        `Object.defineProperty(navigator, 'clipboard', { value: { writeText: (text) => { window.copied = text } } })`,
      )
      await page.click('.share summary')
      const [link, csv] = await page.$$('.share .opened button')
      await link!.click()
      await page.waitForFunction(
        `document.querySelector('.share [role=status]').textContent === 'Copied'`,
      )
      // The last second of the period was that of the response.
      expect(await page.evaluate('window.copied')).toBe(
        `${started().service.address}/explore?period=2026-02-23T00%3A00%3A00Z..2026-03-01T12%3A00%3A00Z&zone=UTC&compare=2026-02-16T00%3A00%3A00Z..2026-02-22T12%3A00%3A00Z`,
      )
      await csv!.click()
      await page.waitForFunction(
        `document.querySelector('.share [role=status]').textContent === 'Downloaded'`,
      )
      await until(
        async () => (await readdir(downloads)).filter((name) => name.endsWith('.csv')).length === 5,
      )
      const copied = (await page.evaluate('window.copied')) as string
      await act(() => page.goto(copied))
      expect(await readTexts(page, '.card')).toEqual(cards)
    })
    const names = (await readdir(downloads)).sort()
    expect(names.map((name) => name.split('-')[0])).toEqual([
      'browser',
      'channel',
      'country',
      'event',
      'page',
    ])
    const pages = await readFile(path.join(downloads, names[4]!), 'utf8')
    expect(pages.split('\r\n')[0]).toBe(
      'page:path,users,new_users,visits,pageviews,events,bounce_rate,visit_duration',
    )
    await rm(downloads, { recursive: true })
  })
})
