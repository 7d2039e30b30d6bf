import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { connect, type Connection } from '../../../../src/clickhouse/connection.js'
import { sql, statement, string, strings } from '../../../../src/clickhouse/sql.js'
import {
  CHANNEL_RULES,
  CLICK_IDS,
  type ChannelCondition,
} from '../../../../src/ingest/enrichment/referrer-type.js'
import {
  buildReferrerKey,
  buildReferrerType,
  extractClickId,
} from '../../../../src/ingest/enrichment/referrer-sql.js'
import { getTestEndpoint } from '../../../support/engine/engine.js'

interface Visit {
  readonly kind: string
  readonly utmMedium: string
  readonly utmSource: string
  readonly clickId: string
  readonly hasReferrer: boolean
  readonly isTagged: boolean
}

const NOTHING: Visit = {
  ...{ kind: '', utmMedium: '', utmSource: '', clickId: '' },
  ...{ hasReferrer: false, isTagged: false },
}
const aVisit = (said: Partial<Visit>): Visit => ({
  ...NOTHING,
  hasReferrer: (said.kind ?? '') !== '',
  ...said,
})

/** Evaluates the rules in TypeScript; returns the first that holds. */
function deciding(visit: Visit): number {
  const holds = (condition: ChannelCondition): boolean => {
    if ('isNot' in condition) return !visit[condition.of]
    const text = visit[condition.of]
      .replace(/^ +| +$/g, '')
      .replace(/[A-Z]/g, (letter) => letter.toLowerCase())
    return 'is' in condition
      ? condition.is.includes(text)
      : new RegExp(condition.matches, 'u').test(text)
  }
  return CHANNEL_RULES.findIndex(({ when }) => when.every(holds))
}
const plainType = (visit: Visit): string => CHANNEL_RULES[deciding(visit)]?.type ?? 'no rule'

let engine: Connection
beforeAll(() => {
  engine = connect({ ...getTestEndpoint(), database: 'system' }, 'admin')
})
afterAll(() => engine.close())

/** Evaluates the SQL for each visit. */
async function typesInSql(visits: readonly Visit[]): Promise<string[]> {
  const column = (name: string) => sql`JSONExtractString(visit, ${string(name)})`
  const flag = (name: string) => sql`JSONExtractBool(visit, ${string(name)})`
  const type = buildReferrerType({
    kind: column('kind'),
    utmMedium: column('utmMedium'),
    utmSource: column('utmSource'),
    clickId: column('clickId'),
    hasReferrer: flag('hasReferrer'),
    isTagged: flag('isTagged'),
  })
  const { rows } = await engine.query<{ type: string }>(
    statement(
      sql`SELECT ${type} AS type FROM (SELECT arrayJoin(arrayEnumerate(${strings(visits.map((visit) => JSON.stringify(visit)))} AS visits)) AS nth, visits[nth] AS visit) ORDER BY nth`,
    ),
  )
  return rows.map((row) => row.type)
}

const CASES: readonly (readonly [Partial<Visit>, string])[] = [
  [{}, 'direct'],
  [{ utmSource: '(direct)', utmMedium: '(none)' }, 'direct'],
  [{ isTagged: true }, 'unknown'],
  [{ hasReferrer: true }, 'unknown'],
  [{ utmSource: 'partner' }, 'unknown'],
  [{ utmMedium: 'sms' }, 'unknown'],
  [{ hasReferrer: true, utmMedium: 'referral' }, 'unknown'],
  ...['cpc', 'CPC', ' ppc ', 'google_cpc', 'cpm', 'cpa', 'cpv', 'paid', 'paid-social'].map(
    (utmMedium) => [{ utmMedium }, 'paid'] as const,
  ),
  ...['paidsearch', 'social_paid', 'display', 'banner', 'retargeting', 'affiliate', 'ads'].map(
    (utmMedium) => [{ utmMedium }, 'paid'] as const,
  ),
  ...['prepaid', 'mcpc', 'adsense blog', 'download', 'bannerless'].map(
    (utmMedium) => [{ utmMedium }, 'unknown'] as const,
  ),
  [{ utmSource: 'google-ads' }, 'paid'],
  [{ utmSource: 'facebookads' }, 'paid'],
  [{ kind: 'search', utmMedium: 'cpc', utmSource: 'google' }, 'paid'],
  [{ kind: 'social', utmMedium: 'email' }, 'email'],
  ...CLICK_IDS.filter((id) => id !== 'fbclid').map(
    (clickId) => [{ kind: 'search', clickId }, 'paid'] as const,
  ),
  [{ clickId: 'fbclid' }, 'social'],
  [{ clickId: 'fbclid', hasReferrer: true, utmSource: 'partner' }, 'social'],
  [{ clickId: 'fbclid', utmMedium: 'newsletter' }, 'email'],
  ...['email', 'E-Mail', 'e_mail', 'newsletter', 'mailing'].flatMap((word) => [
    [{ utmMedium: word }, 'email'] as const,
    [{ utmSource: word, kind: 'search' }, 'email'] as const,
  ]),
  [{ kind: 'email' }, 'email'],
  [{ kind: 'llm' }, 'llm'],
  [{ utmSource: 'chatgpt.com' }, 'llm'],
  [{ utmSource: 'partner', utmMedium: 'ai-assistant' }, 'llm'],
  [{ utmSource: 'www.perplexity.ai', utmMedium: 'referral' }, 'llm'],
  [{ kind: 'search', utmSource: 'chatgpt.com' }, 'llm'],
  [{ kind: 'social' }, 'social'],
  [{ utmMedium: 'social' }, 'social'],
  [{ utmMedium: 'Social-Media' }, 'social'],
  [{ utmMedium: 'organic_social' }, 'social'],
  [{ utmSource: 'm.facebook.com', utmMedium: 'organic' }, 'social'],
  [{ utmSource: 'fakex.com' }, 'unknown'],
  [{ kind: 'search' }, 'search'],
  [{ utmMedium: 'organic' }, 'search'],
  [{ utmSource: 'google.co.uk', utmMedium: 'referral' }, 'search'],
  [{ kind: 'social', utmMedium: 'organic' }, 'search'],
]

test('visits have the expected referrer types', async () => {
  const visits = CASES.map(([said]) => aVisit(said))
  const want = CASES.map(([said, type]) => [said, type])
  expect(visits.map((visit, at) => [CASES[at]?.[0], plainType(visit)])).toEqual(want)
  const types = await typesInSql(visits)
  expect(types.map((type, at) => [CASES[at]?.[0], type])).toEqual(want)
})

test('every rule decides at least one visit', () => {
  const decided = new Set(CASES.map(([said]) => deciding(aVisit(said))))
  expect([...decided].sort((a, b) => a - b)).toEqual([...CHANNEL_RULES.keys()])
})

test('the SQL gives the same types as the rules in TypeScript', async () => {
  const words = [
    ...['', 'cpc', 'paid', 'ads', 'e', 'mail', 'email', 'newsletter', 'social', 'media', 'network'],
    ...['organic', 'search', 'seo', 'google', 'facebook', 'x', 't', 'co', 'com', 'chatgpt', 'ai'],
    ...['direct', 'none', '(none)', '(not set)', 'www', 'm', '-', '_', '.', ' ', 'É', '\n', 'K'],
  ]
  const word = fc.constantFrom(...words)
  const text = fc.oneof(
    word,
    fc.array(word, { maxLength: 4 }).map((parts) => parts.join('')),
    word.map((one) => one.toUpperCase()),
  )
  const visit: fc.Arbitrary<Visit> = fc.record({
    kind: fc.constantFrom('', 'search', 'social', 'email', 'llm'),
    utmMedium: text,
    utmSource: text,
    clickId: fc.constantFrom('', '', ...CLICK_IDS),
    hasReferrer: fc.boolean(),
    isTagged: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(visit, { minLength: 200, maxLength: 400 }), async (visits) => {
      expect(await typesInSql(visits)).toEqual(visits.map(plainType))
    }),
    { numRuns: 20 },
  )
})

test.each([
  ['', ''],
  ['?gclid=1', 'gclid'],
  ['?a=1&fbclid=2', 'fbclid'],
  ['?a=gclid', ''],
  ['?xgclid=1', ''],
])('the click id of %s is %s', async (query, id) => {
  const { rows } = await engine.query(statement(sql`SELECT ${extractClickId(string(query))} AS id`))
  expect(rows).toEqual([{ id }])
})

test.each([
  ['https://t.co/abc', 't.co'],
  ['https://www.google.de/search', 'www.google.de'],
  ['https://x.com/i/grok', 'x.com/i/grok'],
  ['https://www.x.com/i/grok/share', 'x.com/i/grok'],
  ['https://x.com/i/grokking', 'x.com'],
  ['https://x.com/somebody/status/1', 'x.com'],
  ['https://fakex.com/i/grok', 'fakex.com'],
  ['android-app://com.linkedin.android/', 'com.linkedin.android'],
  ['', ''],
])('the key of %s is %s', async (url, key) => {
  const host = sql`lower(domain(${string(url)}))`
  const { rows } = await engine.query(
    statement(sql`SELECT ${buildReferrerKey(host, sql`path(${string(url)})`)} AS key`),
  )
  expect(rows).toEqual([{ key }])
})
