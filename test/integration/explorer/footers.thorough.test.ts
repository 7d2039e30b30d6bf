/** The footers of the explorer in a browser: the query in all forms, how it was answered, and the file. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Browser, Page } from 'puppeteer-core'
import { updateProject } from '../../../src/projects/store.js'
import { describeInBrowser, startChromium } from '../browser/chromium.js'
import { startShops, type Shops } from '../tools/shops.js'

const run = promisify(execFile)
const PERIOD = 'period=2026-06-01..2026-06-10&compare=off'
const COUNTRIES = `[data-panel="places"]`

describeInBrowser('the footers of the explorer', () => {
  let shops: Shops
  let browser: Browser
  let page: Page
  let downloads: string
  beforeAll(async () => {
    shops = await startShops()
    await updateProject(shops.cluster.home.store, 'wide', { hasPublicDashboard: true })
    browser = await startChromium()
  })
  afterAll(async () => {
    await browser.close()
    await shops.stop()
  })
  beforeEach(async () => {
    page = await browser.newPage()
    downloads = await mkdtemp(path.join(tmpdir(), 'tallyhouse-downloads-'))
    const session = await browser.target().createCDPSession()
    await session.send('Browser.setDownloadBehavior', {
      behavior: 'allow',
      downloadPath: downloads,
    })
  })
  afterEach(async () => {
    await page.close()
    await rm(downloads, { recursive: true })
  })

  const read = (selector: string): Promise<string> =>
    page.$eval(
      `${COUNTRIES} ${selector}`,
      (element: unknown) => (element as { readonly textContent: string }).textContent,
    )

  /** Opens the footer of the countries. */
  async function open(target: string): Promise<void> {
    await page.goto(target)
    await page.waitForSelector(`${COUNTRIES} .rows`)
    await page.click(`${COUNTRIES} .query summary`)
    await waitForText('.answered', / · .+ · .+ ms/)
  }

  async function waitForText(selector: string, want: RegExp): Promise<void> {
    await page.waitForSelector(`${COUNTRIES} ${selector}`)
    while (!want.test(await read(selector))) await setTimeout(20)
  }

  /** Browsers write a download after the page has handed it over. */
  async function waitForFile(name: string): Promise<void> {
    while (!(await readdir(downloads)).includes(name)) await setTimeout(20)
  }

  const clickForm = async (name: string): Promise<void> => {
    await page.locator(`${COUNTRIES} .query ::-p-text(${name})`).click()
    await page.waitForSelector(`${COUNTRIES} pre[data-form="${name}"]`)
  }

  test.each(['with a key', 'on a public dashboard'])('%s', async (name) => {
    const { address } = shops.service
    const { key } = shops.narrow
    const isPublic = name !== 'with a key'
    await open(
      isPublic ? `${address}/share/wide?${PERIOD}` : `${address}/explore?${PERIOD}#key=${key}`,
    )
    const body: unknown = JSON.parse(await read('pre'))
    expect(body).toMatchObject({ group_by: ['country'], date_range: ['2026-06-01', '2026-06-10'] })
    expect(await read('.answered')).toMatch(
      /^POST \/v1\/analytics\/query · \w+(, \w+)* · [\d.]+ ms( · from cache)?$/,
    )

    await clickForm('curl')
    const command = await read('pre')
    expect(command.includes(key)).toBe(!isPublic)
    expect(await page.$$(`${COUNTRIES} .secret`)).toHaveLength(isPublic ? 0 : 1)
    const { stdout } = await run('sh', ['-c', command])
    const answer = JSON.parse(stdout) as { data: { metrics: { users: number } }[] }
    const shown = await page.$$eval(`${COUNTRIES} .rows td data`, (all) =>
      all.map(({ value }) => Number(value)),
    )
    expect(shown).toEqual(answer.data.map(({ metrics }) => metrics.users))

    await clickForm('TypeScript')
    expect(await read('pre')).toContain('await tally.query({')
    expect(await read('pre')).not.toContain(key)

    await page.click(`${COUNTRIES} .csv`)
    await waitForText(`${COUNTRIES} .csv + [role=status]`, /^Downloaded$/)
    const file = 'country-2026-06-01-to-2026-06-10.csv'
    await waitForFile(file)
    const lines = (await readFile(path.join(downloads, file), 'utf8')).trimEnd().split('\r\n')
    expect(lines.slice(0, answer.data.length + 1)).toEqual([
      'country,users',
      ...answer.data.map(({ metrics }) => expect.stringMatching(new RegExp(`,${metrics.users}$`))),
    ])
  })
})
