/** The explorer in a real browser: the page of a project that has a time zone. */
import { expect, test } from '@jest/globals'
import type { Page } from 'puppeteer-core'
import { describeExplorer } from './describe-explorer.js'
import type { ExplorerPage } from './explorer-page.js'
import { readTexts } from './read-page.js'

const PERIOD = '?period=2026-02-01..2026-02-03'
const ZONE = 'Asia/Kolkata'

const readZone = (page: Page): Promise<unknown> =>
  page.evaluate(`document.querySelector('select[name=zone]').value`)

/** The zone of the page, and the first bucket of its chart. */
async function readShown(explorer: ExplorerPage): Promise<readonly unknown[]> {
  const parts = await explorer.read()
  const chart = parts.find(({ name }) => name === 'chart')
  return [await readZone(explorer.page), chart?.rows[0]?.about]
}

describeExplorer(
  'the explorer of a project with a time zone',
  (started) => {
    test('it shows the zone until another one is chosen', () =>
      started().explore(PERIOD, async (explorer) => {
        const { page, act, takeRequests } = explorer
        const choose = (zone: string) => act(() => page.select('select[name=zone]', zone))
        expect(await readShown(explorer)).toEqual([ZONE, '2026-02-01T00:00:00+05:30'])
        // The page asks before it knows the zone, and not again once it does.
        const paths = takeRequests().map((request) => new URL(request.url()).pathname)
        expect(paths.filter((path) => path.endsWith('/batch'))).toHaveLength(1)
        await choose('UTC')
        expect(page.url()).toContain('zone=UTC')
        expect(await readShown(explorer)).toEqual(['UTC', '2026-02-01T00:00:00Z'])
        await choose(ZONE)
        expect(page.url()).not.toContain('zone=')
        expect(await readShown(explorer)).toEqual([ZONE, '2026-02-01T00:00:00+05:30'])
      }))

    test('so does its public dashboard', async () => {
      const context = await started().browser.createBrowserContext()
      const page = await context.newPage()
      await page.goto(`${started().service.address}/share/known${PERIOD}`)
      await page.waitForSelector('.card data')
      expect(await readZone(page)).toBe(ZONE)
      await context.close()
    })

    test('it compares nothing with a time before the first event, either', async () => {
      const page = await started().browser.newPage()
      const open = async (period: string): Promise<void> => {
        await page.goto(`${started().service.address}/share/known?period=${period}`)
        await page.waitForSelector('.legend')
      }
      await open('2025-12-10..2026-01-31')
      await page.waitForSelector('.chart .limits')
      expect(await readTexts(page, '.chart .limits')).toEqual([
        'Not compared: events are counted since Tue 9 Dec 2025.',
      ])
      expect(await page.$$('.change, .of-compared, .compared')).toEqual([])
      await open('2026-02-01..2026-02-28')
      await page.waitForSelector('.change')
      expect(await readTexts(page, '.chart .limits')).toEqual([])
      await page.close()
    })
  },
  { id: 'known', timeZone: ZONE, hasPublicDashboard: true },
)
