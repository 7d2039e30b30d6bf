import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { readFileSync } from 'node:fs'
import { AGENTS_VERSION, classifyUserAgent } from '../../../../src/ingest/enrichment/user-agents.js'
import { packagePath } from '../../../../src/lib/package-path.js'

const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)'
const MAC =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)'
const PIXEL = 'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko)'
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)'

test.each([
  [`${WINDOWS} Chrome/124.0.0.0 Safari/537.36`, 'Chrome', 'Windows', 'desktop'],
  [`${WINDOWS} Chrome/124.0.0.0 Safari/537.36 Edg/124.0.0.0`, 'Edge', 'Windows', 'desktop'],
  [`${WINDOWS} Chrome/124.0.0.0 Safari/537.36 OPR/110.0.0.0`, 'Opera', 'Windows', 'desktop'],
  [`${MAC} Version/17.4 Safari/605.1.15`, 'Safari', 'macOS', 'desktop'],
  [
    'Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0',
    ...['Firefox', 'Linux', 'desktop'],
  ],
  [
    'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36',
    ...['Chrome', 'ChromeOS', 'desktop'],
  ],
  [`${PIXEL} Chrome/124.0.0.0 Mobile Safari/537.36`, 'Chrome', 'Android', 'mobile'],
  [
    `${PIXEL} SamsungBrowser/24.0 Chrome/117.0.0.0 Mobile Safari/537.36`,
    ...['Samsung Internet', 'Android', 'mobile'],
  ],
  [
    'Mozilla/5.0 (Linux; Android 13; SM-X906C) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36',
    ...['Chrome', 'Android', 'tablet'],
  ],
  [`${IPHONE} Version/17.4 Mobile/15E148 Safari/604.1`, 'Safari', 'iOS', 'mobile'],
  [`${IPHONE} CriOS/124.0.0.0 Mobile/15E148 Safari/604.1`, 'Chrome', 'iOS', 'mobile'],
  [`${IPHONE} FxiOS/125.0 Mobile/15E148 Safari/605.1.15`, 'Firefox', 'iOS', 'mobile'],
  [
    'Mozilla/5.0 (iPad; CPU OS 12_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.1 Mobile/15E148 Safari/604.1',
    ...['Safari', 'iOS', 'tablet'],
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko',
    ...['Internet Explorer', 'Windows', 'desktop'],
  ],
  [
    'Mozilla/5.0 (Linux; Android 9; BRAVIA 4K UR2) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36',
    ...['Chrome', 'Android', ''],
  ],
  [
    'Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) AppleWebKit/537.36 (KHTML, like Gecko) 76.0.3809.146/6.0 TV Safari/537.36',
    ...['Tizen', 'Tizen', ''],
  ],
  ['Roku/DVP-9.10 (519.10E04111A)', 'Roku', 'Roku', ''],
  [
    `${WINDOWS} Chrome/124.0.0.0 Safari/537.36`.replaceAll(' ', '+'),
    ...['Chrome', 'Windows', 'desktop'],
  ],
  [
    `${PIXEL} Chrome/123.0.6312.80 UCMobile/15.0 Mobile Safari/537.36`,
    'UC Browser',
    'Android',
    'mobile',
  ],
  [
    `${PIXEL} Version/4.0 Chrome/124.0.0.0 Mobile Safari/537.36 GSA/15.1`,
    'Google App',
    'Android',
    'mobile',
  ],
  [
    `${IPHONE} Version/17.4 Mobile/15E148 DuckDuckGo/7 Safari/605.1.15`,
    'DuckDuckGo',
    'iOS',
    'mobile',
  ],
  [`${MAC} Chrome/124.0.0.0 Safari/537.36 Brave/124`, 'Brave', 'macOS', 'desktop'],
  [
    'Mozilla/5.0 (TAS-AL00; wv) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/97.0 Mobile Safari/537.36 (HarmonyOS 3.0.0)',
    ...['Chrome', 'HarmonyOS', 'mobile'],
  ],
  ['Mozilla/5.0 (somewhere; else) Gecko/20100101 Else/1.0 (thing)', '', '', ''],
  ['', '', '', ''],
])('%s is %s on %s, %s', (text, browser, os, device_type) => {
  expect(classifyUserAgent(text)).toEqual({ browser, os, device_type, is_bot: false })
})

test.each([
  '-',
  'curl/8.5.0',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  `${WINDOWS} HeadlessChrome/124.0.0.0 Safari/537.36`,
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
])('%s is a bot', (text) => {
  expect(classifyUserAgent(text)).toEqual({ browser: '', os: '', device_type: '', is_bot: true })
})

test('characters after the 1,024th are ignored', () => {
  const text = `${WINDOWS} Chrome/124.0.0.0 Safari/537.36`.padEnd(1024)
  expect(classifyUserAgent(`${text} Googlebot`)).toEqual(classifyUserAgent(text))
  expect(classifyUserAgent(`${text.slice(0, -10)} Googlebot`).is_bot).toBe(true)
})

test('classifyUserAgent() never throws, and returns known names only', () => {
  const part = fc.constantFrom(
    ...[
      'Mozilla/5.0',
      '(',
      ')',
      '/',
      ' ',
      'Android',
      'Mac OS X 1',
      'iPad',
      'Windows NT',
      '\n',
      '\0',
    ],
  )
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 2000 }),
    fc.array(part, { maxLength: 400 }).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(texts, (text) => {
      const { browser, os, device_type } = classifyUserAgent(text)
      expect(`${browser} ${os} ${device_type}`).toMatch(/^[A-Za-z0-9 -]*$/)
    }),
  )
})

test('the version names the installed libraries', () => {
  const installed = ['bowser', 'isbot'].map((name) => {
    const file = packagePath(`node_modules/${name}/package.json`)
    return `${name} ${(JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version}`
  })
  expect(AGENTS_VERSION).toBe([...installed, 'table 1'].join(', '))
})
