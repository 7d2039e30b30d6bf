/** The pages of the docs in a real browser: none scrolls sideways on a phone, and nothing is cut on paper. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'puppeteer-core'
import { PAGES, REFERENCES } from '../../../src/http/site/docs/page-list.js'
import { docsApp } from '../../contract/docs/served-pages.js'
import { describeInBrowser, startChromium } from './chromium.js'

const PHONE = { width: 390, height: 844 }
/** A4 without its margins, in CSS pixels. */
const PAPER = { width: 718, height: 1047 }

/** Lists texts that are cut or folded, and what belongs on screens only. */
const LIST_FAULTS = `(() => {
  const texts = [...document.querySelectorAll('main :is(h1, h2, h3, p, li, pre, table, code)')]
    .filter((one) => !one.closest('footer'))
  const isCut = (one) => one.getBoundingClientRect().right > ${PAPER.width} + 1
  const isShown = (one) => one.getBoundingClientRect().height > 0
  const controls = [...document.querySelectorAll('header, nav, footer')]
  return [
    ...texts.filter((one) => isCut(one) || !isShown(one)),
    ...controls.filter(isShown),
  ].map((one) => one.tagName + ': ' + one.textContent.trim().slice(0, 60))
})()`

const paths = PAGES.map(({ path }) => path)
const references = Object.values(REFERENCES).map(({ path }) => path)

describeInBrowser('the pages of the docs', () => {
  let server: Server
  let address: string
  let browser: Browser
  let page: Page
  beforeAll(async () => {
    server = docsApp.listen(0, '127.0.0.1')
    await once(server, 'listening')
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await startChromium()
    page = await browser.newPage()
  })
  afterAll(async () => {
    await browser.close()
    server.close()
  })

  test.each([...paths, ...references])('%s does not scroll sideways on a phone', async (path) => {
    await page.emulateMediaType('screen')
    await page.setViewport(PHONE)
    await page.goto(`${address}${path}`)
    if (references.includes(path)) await page.waitForSelector('.opblock')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width)
  })

  test.each(paths)('%s is whole on paper', async (path) => {
    await page.emulateMediaType('print')
    await page.setViewport(PAPER)
    await page.goto(`${address}${path}`)
    const faults = await page.evaluate(LIST_FAULTS)
    expect(faults).toEqual([])
  })
})
