/**
 * Compares the classes of referrers with those of Wikimedia. The lists are not part of the project; the tests are
 * skipped if they are missing.
 */
import { expect, test } from '@jest/globals'
import { existsSync, readFileSync } from 'node:fs'
import { classifyReferrer } from '../../../../src/ingest/enrichment/referrers.js'
import { packagePath } from '../../../../src/lib/package-path.js'

const file = (name: string): string =>
  packagePath(`../shared/data/reference-lists/wikimedia-refinery/${name}`)

const KINDS: readonly (readonly [theirs: string, ours: string])[] = [
  ['external (search engine)', 'search'],
  ['external (media sites)', 'social'],
  ['external (AI chatbot)', 'llm'],
]

/** Each line is a referrer, a comma and a class; a referrer may contain commas. */
const LINE = /^[^,]*,(.*),(external[^,]*|internal|unknown|none),(?:TRUE|FALSE),[^,]*$/
const HOST = /^[a-z][a-z0-9+.-]*:\/\/([^/?#:]+)/i

function compare(name: string): { referrers: number; differ: string[] } {
  const cases = readFileSync(file(name), 'utf8')
    .split('\n')
    .flatMap((line) => LINE.exec(line) ?? [])
  const referrers = cases.flatMap((_, at) =>
    at % 3 === 0 ? [{ url: cases[at + 1] ?? '', theirs: cases[at + 2] ?? '' }] : [],
  )
  const differ = referrers.flatMap(({ url, theirs }) => {
    const want = KINDS.find(([kind]) => kind === theirs)?.[1] ?? ''
    const host = HOST.exec(url)?.[1] ?? ''
    const { kind } = classifyReferrer(host)
    return kind === want ? [] : [`${host}: ${kind}, not ${want}`]
  })
  return { referrers: referrers.length, differ: [...new Set(differ)] }
}

/** Wikimedia counts any host that contains `search` as a search engine; we count listed hosts only. */
const GUESSED = [
  'search.pch.com: , not search',
  'www.searchencrypt.com: , not search',
  'lavasoft.gosearchresults.com: , not search',
  'engine.presearch.org: , not search',
  'www.securesearch.co: , not search',
]
/** Only the query of a translated page shows that it was a search result, and we drop queries. */
const TRANSLATED = 'translate.googleusercontent.com: , not search'

const TABLES = [
  {
    name: 'referer_test_data.csv',
    referrers: 139,
    differ: [
      // A school, a shop and a company's site: neither social networks nor search engines.
      'www.coursera.org: , not social',
      TRANSLATED,
      ...GUESSED,
      'yellow-search.org: , not search',
      'deepmind.google: , not llm',
      'steam.com: , not social',
    ],
  },
  {
    name: 'search_engine_test_data.csv',
    referrers: 43,
    // This table has search engines only.
    differ: ['m.facebook.com: social, not ', TRANSLATED, ...GUESSED],
  },
]

for (const { name, referrers, differ } of TABLES) {
  const testIfPresent = existsSync(file(name)) ? test : test.skip
  testIfPresent(`${name}: all but ${differ.length} kinds agree`, () => {
    expect(compare(name)).toEqual({ referrers, differ })
  })
}
