import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { readFileSync } from 'node:fs'
import { REFERRER_LIST } from '../../../../src/ingest/enrichment/referrer-list.js'
import {
  classifyReferrer,
  REFERRER_PAGES,
  REFERRERS_VERSION,
} from '../../../../src/ingest/enrichment/referrers.js'
import { packagePath } from '../../../../src/lib/package-path.js'

test.each([
  // Search engines, with their suffixes and languages.
  ['google.com', 'Google', 'search'],
  ['www.google.com', 'Google', 'search'],
  ['WWW.Google.DE', 'Google', 'search'],
  ['google.co.uk', 'Google', 'search'],
  ['google.com.br', 'Google', 'search'],
  ['images.google.fr', 'Google Images', 'search'],
  ['bing.com', 'Bing', 'search'],
  ['cn.bing.com', 'Bing', 'search'],
  ['de.search.yahoo.com', 'Yahoo!', 'search'],
  ['m.baidu.com', 'Baidu', 'search'],
  ['yandex.com.tr', 'Yandex', 'search'],
  ['yandex.com.', 'Yandex', 'search'],
  ['duckduckgo.com:443', 'DuckDuckGo', 'search'],
  ['com.google.android.googlequicksearchbox', 'Google', 'search'],
  // Social networks, with their subdomains.
  ['t.co', 'Twitter', 'social'],
  ['x.com', 'Twitter', 'social'],
  ['lm.facebook.com', 'Facebook', 'social'],
  ['de-de.facebook.com', 'Facebook', 'social'],
  ['old.reddit.com', 'reddit', 'social'],
  ['out.reddit.com', 'reddit', 'social'],
  ['news.ycombinator.com', 'Hacker News', 'social'],
  ['com.linkedin.android', 'LinkedIn', 'social'],
  ['org.joinmastodon.android', 'Mastodon', 'social'],
  // Webmail.
  ['mail.google.com', 'Gmail', 'email'],
  ['com.google.android.gm', 'Gmail', 'email'],
  ['outlook.live.com', 'Outlook', 'email'],
  ['us-mg5.mail.yahoo.com', 'Yahoo! Mail', 'email'],
  ['mail.yandex.ru', 'Yandex Mail', 'email'],
  ['e.mail.ru', 'Mail.ru', 'email'],
  // Assistants.
  ['chatgpt.com', 'ChatGPT', 'llm'],
  ['www.perplexity.ai', 'Perplexity', 'llm'],
  ['gemini.google.com', 'Gemini', 'llm'],
  ['x.com/i/grok', 'Grok', 'llm'],
  // Unlisted hosts.
  ['www.Example.org', 'example.org', ''],
  ['docs.google.com', 'docs.google.com', ''],
  ['careers.bing.com', 'careers.bing.com', ''],
  ['ycombinator.com', 'ycombinator.com', ''],
  ['cnn.com', 'cnn.com', ''],
  ['com', 'com', ''],
  ['192.168.2.1', '192.168.2.1', ''],
  ['[2001:db8::1]', '[2001:db8::1]', ''],
  ['', '', ''],
  // Hosts that imitate others.
  ['google.evil.com', 'google.evil.com', ''],
  ['google.com.evil.com', 'google.com.evil.com', ''],
  ['google.com.bg.geek.nz', 'google.com.bg.geek.nz', ''],
  ['google.github.io', 'google.github.io', ''],
  ['google.zip', 'google.zip', ''],
  ['google.exploit', 'google.exploit', ''],
  ['google.xx', 'google.xx', ''],
  ['joegoogle.com', 'joegoogle.com', ''],
  ['fakex.com', 'fakex.com', ''],
  ['t.co.exploit', 't.co.exploit', ''],
  ['facebook.com.evil.com', 'facebook.com.evil.com', ''],
  ['xx.github.io', 'xx.github.io', ''],
  ['google.{}', 'google.{}', ''],
  ['x.com/i/grok/else', 'x.com/i/grok/else', ''],
  ['__proto__', '__proto__', ''],
])('%s is %s: %s', (key, name, kind) => {
  expect(classifyReferrer(key)).toEqual({ name, kind })
})

test('a referrer that is longer than any host name is cut', () => {
  expect(classifyReferrer('a'.repeat(300))).toEqual({ name: 'a'.repeat(253), kind: '' })
  expect(classifyReferrer('a.'.repeat(10_000))).toEqual({ name: 'a.'.repeat(126) + 'a', kind: '' })
})

test('classifyReferrer() never throws, whatever the text', () => {
  const part = fc.constantFrom('google', '.', 'com', '{}', 'www.', 'm.', 'de', '/', 'x', ':', '\0')
  const keys = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(part).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(keys, (key) => {
      expect(classifyReferrer(key)).toEqual({
        name: expect.any(String),
        kind: expect.stringMatching(/^(search|social|email|llm)?$/),
      })
    }),
  )
})

test('few pages are classified differently from their host', () => {
  expect(REFERRER_PAGES).toEqual([
    'x.com/i/grok',
    'apollo.lv/portal/search',
    'icloud.com/mail',
    'account.proton.me/mail',
  ])
})

test('the version names the list and the installed library', () => {
  const file = packagePath('node_modules/tldts/package.json')
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string }
  expect(REFERRERS_VERSION).toBe(`matomo ${REFERRER_LIST.version}, tldts ${version}, table 1`)
})
