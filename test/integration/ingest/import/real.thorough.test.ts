/**
 * Imports real traffic and compares figures with those computed directly from the files. The data are not part of the
 * project; the tests are skipped if they are missing.
 */
import { describe, expect, test } from '@jest/globals'
import { isbot } from 'isbot'
import { createReadStream, existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { AnalyticsQueryResponse, GroupBy } from '../../../../src/contract/api.js'
import type { Mapping } from '../../../../src/ingest/import/formats/mapping.js'
import type { Rejection } from '../../../../src/ingest/inbox/rejections.js'
import { packagePath } from '../../../../src/lib/package-path.js'
import type { StoredProject } from '../../../../src/projects/project.js'
import { withDatabase } from '../../../support/store/database.js'
import { expectConsistentFacts } from '../../../support/store/facts.js'
import { importBytes } from '../../../support/sources/import-bytes.js'
import { runQuery, newProject, send, type PartialRequest } from '../../../support/world/world.js'

const DATA = packagePath('../shared/data')
const testIfPresent = (set: string): typeof test.skip =>
  existsSync(path.join(DATA, set)) ? test : test.skip

const NOTHING = { read: 0, events: 0, bots: 0, skipped: 0, rejections: [] }

const NASA = 'nasa-sessions-oracle'
const USAGOV = 'usagov-bitly-clicks'

const database = withDatabase()

const readSet = (set: string, file: string): Promise<Buffer> => readFile(path.join(DATA, set, file))
const readExpected = async <T>(set: string): Promise<T> =>
  JSON.parse((await readSet(set, 'expected.json')).toString()) as T

const fieldsOf = (mapping: Readonly<Record<string, string>>): Mapping =>
  new Map(Object.entries(mapping))

/** Imports files into a new project, as one command does. */
async function load(
  files: readonly string[],
  options: { readonly mapping?: Mapping; readonly origin?: string } = {},
): Promise<{ readonly project: StoredProject; readonly loaded: Loaded }> {
  const project = await newProject(database.store, { domain: 'nowhere.example' })
  let loaded: Loaded = { read: 0, events: 0, bots: 0, skipped: 0, rejections: [] }
  for (const file of files) {
    const source = createReadStream(path.join(DATA, file)) as AsyncIterable<Buffer>
    const one = await importBytes(database.store, project.id, source, options)
    loaded = {
      read: loaded.read + one.report.received + one.skipped,
      events: loaded.events + one.report.events,
      bots: loaded.bots + one.report.bots,
      skipped: loaded.skipped + one.skipped,
      rejections: [...loaded.rejections, ...one.rejections],
    }
  }
  await expectConsistentFacts(database.store, project.id)
  return { project, loaded }
}

interface Loaded {
  readonly read: number
  readonly events: number
  readonly bots: number
  readonly skipped: number
  readonly rejections: readonly Rejection[]
}

/** Returns the values of a grouping with their pageviews, in descending order. */
async function pageviewsBy(
  project: StoredProject,
  group: GroupBy,
  asked: PartialRequest,
): Promise<(readonly [string, number])[]> {
  const rows: (readonly [string, number])[] = []
  for (let total = 1; rows.length < total;) {
    const { data, pagination } = await runQuery(database.store, project, {
      ...asked,
      metrics: ['pageviews'],
      group_by: [group],
      limit: 1_000,
      offset: rows.length,
    })
    total = pagination.total
    rows.push(...data.map((row) => [Object.values(row.group)[0]!, row.metrics.pageviews!] as const))
  }
  return rows
}

const count = (values: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}

/** Returns the path of a URL by our rule: without query and fragment, never empty. */
const pathOf = (url: string): string =>
  url.replace(/^[a-z]+:\/\/[^/?#]*/i, '').replace(/[?#][^]*$/, '') || '/'

interface NasaExpected {
  readonly events: number
  readonly users: number
  readonly distinct_urls: number
  readonly top_urls: readonly (readonly [string, number])[]
  readonly python: Readonly<
    Record<
      '1800_gap_greater',
      Readonly<Record<'sessions' | 'single_event_sessions' | 'total_session_seconds', number>>
    >
  >
}

testIfPresent(NASA)(
  'NASA: the sessions of 10,000 users are those that two other programs compute',
  async () => {
    const wanted = await readExpected<NasaExpected>(NASA)
    const csv = gunzipSync(await readSet(NASA, 'session_dataset.csv.gz')).toString()
    const rows = [...csv.matchAll(/"([^"]*)","([^"]*)","((?:[^"]|"")*)"\n?/g)].slice(1)
    const urls = rows.map(([, , , url]) => url!.replaceAll('""', '"'))
    const { project, loaded } = await load([`${NASA}/session_dataset.csv.gz`], {
      mapping: fieldsOf({ user_id: 'uuid' }),
    })
    expect(loaded).toEqual({ ...NOTHING, read: wanted.events, events: wanted.events })
    const asked: PartialRequest = {
      date_range: ['2014-01-07', '2014-01-22'],
      metrics: ['users', 'pageviews', 'events', 'bounce_rate', 'visit_duration'],
    }
    const { data } = await runQuery(database.store, project, asked)
    // A pause of exactly 30 minutes does not end a session.
    const { sessions, single_event_sessions, total_session_seconds } =
      wanted.python['1800_gap_greater']
    expect(sessions).toBe(22_224)
    expect(data).toEqual([
      {
        group: {},
        metrics: {
          users: wanted.users,
          pageviews: wanted.events,
          events: 0,
          bounce_rate: Math.round((single_event_sessions / sessions) * 10_000) / 100,
          visit_duration: Math.round((total_session_seconds / sessions) * 100) / 100,
        },
      },
    ])
    // A page is identified by its path alone, not by query, fragment or host.
    const paths = count(urls.map(pathOf))
    const byPath = await pageviewsBy(project, 'page:path', asked)
    expect(new Map(byPath)).toEqual(paths)
  },
)

interface Click {
  readonly c: string | null
  readonly cy?: string
  readonly r: string
  readonly t: number
  readonly u: string
}

interface UsagovExpected {
  readonly heartbeats: number
  readonly isbot_clicks: number
  readonly clicks: number
  readonly clicks_per_day_utc: Readonly<Record<string, number>>
  readonly referer_direct: number
  readonly distinct_countries: number
  readonly top_countries: readonly (readonly [string, number])[]
  readonly top_city: readonly (readonly [string, number])[]
  readonly top_referer_hosts: readonly (readonly [string, number])[]
  readonly top_target_hosts: readonly (readonly [string, number])[]
}

testIfPresent(USAGOV)(
  '1.USA.gov: 114,808 clicks have the counts by day, place and host that others found',
  async () => {
    const wanted = await readExpected<UsagovExpected>(USAGOV)
    const files = (await readdir(path.join(DATA, USAGOV))).filter((name) => name.endsWith('.gz'))
    const lines = await Promise.all(
      files.map(async (name) =>
        gunzipSync(await readSet(USAGOV, name))
          .toString()
          .split('\n'),
      ),
    )
    const clicks = lines
      .flat()
      .filter((line) => line !== '' && !line.includes('"_heartbeat_"'))
      .map((line) => JSON.parse(line) as Click)
    expect(clicks).toHaveLength(wanted.clicks)
    // The data have no user ids. A click that is its own visit keeps its own place and referrer.
    const project = await newProject(database.store, { domain: 'nowhere.example' })
    const { report, rejections } = await send(
      database.store,
      project,
      clicks.map(({ c, cy, r, t, u }, n) => ({
        timestamp: new Date(t * 1_000).toISOString(),
        user_id: `click ${n}`,
        anonymous: true,
        url: u,
        country: c,
        city: cy ?? null,
        ...(r === 'direct' ? {} : { referrer_url: r }),
      })),
    )
    expect([report.events, rejections]).toEqual([wanted.clicks, []])
    await expectConsistentFacts(database.store, project.id)
    const asked: PartialRequest = { date_range: ['2013-02-01', '2013-03-28'] }
    const total = (answer: AnalyticsQueryResponse): unknown => answer.data[0]!.metrics
    expect(
      total(
        await runQuery(database.store, project, {
          ...asked,
          metrics: ['users', 'pageviews', 'events', 'bounce_rate', 'visit_duration'],
        }),
      ),
    ).toEqual({
      users: wanted.clicks,
      pageviews: wanted.clicks,
      events: 0,
      bounce_rate: 100,
      visit_duration: 0,
    })

    const byDay = await pageviewsBy(project, 'interval:auto', asked)
    expect(
      Object.fromEntries(byDay.filter(([, n]) => n > 0).map(([day, n]) => [day.slice(0, 10), n])),
    ).toEqual(wanted.clicks_per_day_utc)

    const byCountry = await pageviewsBy(project, 'country', asked)
    expect(byCountry.filter(([country]) => country !== '')).toHaveLength(wanted.distinct_countries)
    expect(byCountry.slice(0, wanted.top_countries.length)).toEqual(
      wanted.top_countries.map(([country, n]) => [country === '(null)' ? '' : country, n]),
    )
    const byCity = await pageviewsBy(project, 'city', asked)
    expect(byCity.filter(([city]) => city !== '').slice(0, wanted.top_city.length)).toEqual(
      wanted.top_city,
    )

    // Hosts are compared without the scheme of the origin.
    const hosts = new Map<string, number>()
    for (const [origin, n] of await pageviewsBy(project, 'page:origin', asked)) {
      const host = origin.replace(/^https?:\/\//, '')
      hosts.set(host, (hosts.get(host) ?? 0) + n)
    }
    expect(wanted.top_target_hosts.map(([host]) => [host, hosts.get(host)])).toEqual(
      wanted.top_target_hosts,
    )

    const pageviewsFrom = async (values: readonly string[], operator: 'eq' | 'startsWith') =>
      total(
        await runQuery(database.store, project, {
          ...asked,
          metrics: ['pageviews'],
          filters: values.map((value) => ({ type: 'referrer_url', operator, value })),
          filtersOperator: 'or',
        }),
      )
    expect(await pageviewsFrom([''], 'eq')).toEqual({ pageviews: wanted.referer_direct })
    for (const [host, pageviews] of wanted.top_referer_hosts.filter(
      ([name]) => name !== 'direct',
    )) {
      // Some URLs have no scheme.
      const bare = [host, `http://${host}`, `https://${host}`]
      const starts = bare.flatMap((name) => ['/', ':', '?'].map((end) => `${name}${end}`))
      const withPath = (await pageviewsFrom(starts, 'startsWith')) as { pageviews: number }
      const alone = (await pageviewsFrom(bare, 'eq')) as { pageviews: number }
      // Filters are case-sensitive, host names are not.
      const spelling = new RegExp(`^https?://${host}`, 'i')
      const others = clicks.filter(({ r }) => spelling.test(r) && !r.includes(host)).length
      expect([host, withPath.pageviews + alone.pageviews + others]).toEqual([host, pageviews])
    }
  },
)

/** Maps the columns of the click stream; `user_agent` is a separate case. */
const CLICK = {
  timestamp: 't',
  url: 'u',
  referrer_url: 'r',
  country: 'c',
  city: 'cy',
  'properties.kw': 'kw',
}

testIfPresent(USAGOV).each([
  { what: 'all of them', mapping: fieldsOf(CLICK), classifiesBots: false },
  { what: 'without bots', mapping: fieldsOf({ ...CLICK, user_agent: 'a' }), classifiesBots: true },
])(
  '1.USA.gov: the clicks as they are, under other names: $what',
  async ({ mapping, classifiesBots }) => {
    const wanted = await readExpected<UsagovExpected>(USAGOV)
    const names = (await readdir(path.join(DATA, USAGOV))).filter((name) => name.endsWith('.gz'))
    const { project, loaded } = await load(
      names.sort().map((name) => `${USAGOV}/${name}`),
      { mapping },
    )
    const bots = classifiesBots ? wanted.isbot_clicks : 0
    expect(loaded).toEqual({
      read: wanted.clicks + wanted.heartbeats,
      events: wanted.clicks - bots,
      bots,
      skipped: wanted.heartbeats,
      rejections: [],
    })
    if (classifiesBots) return
    const asked: PartialRequest = { date_range: ['2013-02-01', '2013-03-28'] }
    const byDay = await pageviewsBy(project, 'interval:auto', asked)
    expect(
      Object.fromEntries(byDay.filter(([, n]) => n > 0).map(([day, n]) => [day.slice(0, 10), n])),
    ).toEqual(wanted.clicks_per_day_utc)
  },
)

interface LogExpected {
  readonly lines: number
  readonly unparsed: number
  readonly pageviews: {
    readonly all: number
    readonly non_bot: number
    readonly static_extensions: readonly string[]
    readonly non_bot_per_day_utc: Readonly<Record<string, number>>
    readonly non_bot_top_paths_without_query: readonly (readonly [string, number])[]
  }
}

/** 206 Partial Content: their figures count such requests, ours do not. */
function partsOfPages(log: string, assets: readonly string[]): readonly string[] {
  const asset = new RegExp(`[.](${assets.join('|')})$`, 'i')
  return log.split('\n').flatMap((line) => {
    const [, target, agent] = /"GET (\S+) [^"]*" 206 \d+ "[^"]*" "([^"]*)"$/.exec(line) ?? []
    return target === undefined || asset.test(target.split('?')[0]!) ? [] : [agent!]
  })
}

const LOGS = ['apache-semicomplete-10k/access.log', 'apache-sparkdeveloper-207k/access.log.gz']

describe.each(LOGS)('%s', (file) => {
  const [set = ''] = file.split('/')

  testIfPresent(set)('the pages that people asked for', async () => {
    const wanted = await readExpected<LogExpected>(set)
    const bytes = await readFile(path.join(DATA, file))
    const log = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
    const parts = partsOfPages(log, wanted.pageviews.static_extensions)
    const partsOfPeople = parts.filter((agent) => agent !== '-' && !isbot(agent))
    const { all, non_bot, non_bot_per_day_utc, non_bot_top_paths_without_query } = wanted.pageviews
    const { project, loaded } = await load([file])
    expect({ ...loaded, rejections: loaded.rejections.map(({ reason }) => reason) }).toEqual({
      read: wanted.lines,
      events: non_bot - partsOfPeople.length,
      bots: all - parts.length - (non_bot - partsOfPeople.length),
      skipped: wanted.lines - wanted.unparsed - (all - parts.length),
      // One line has no closing quote.
      rejections: Array.from(
        { length: wanted.unparsed },
        () => 'is not a line of the Common or Combined Log Format',
      ),
    })
    if (partsOfPeople.length > 0) return
    const days = Object.keys(non_bot_per_day_utc).sort()
    const asked: PartialRequest = { date_range: [days.at(0)!, days.at(-1)!] }
    const byDay = await pageviewsBy(project, 'interval:auto', asked)
    expect(
      Object.fromEntries(byDay.filter(([, n]) => n > 0).map(([day, n]) => [day.slice(0, 10), n])),
    ).toEqual(non_bot_per_day_utc)
    const byPath = new Map(await pageviewsBy(project, 'page:path', asked))
    expect(non_bot_top_paths_without_query.map(([page]) => [page, byPath.get(page)])).toEqual(
      non_bot_top_paths_without_query,
    )
  })
})
