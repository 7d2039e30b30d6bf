/**
 * Compares classified user agents with lists of other projects. The lists are not part of this project; the tests are
 * skipped if they are missing.
 */
import { expect, test } from '@jest/globals'
import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { BROWSERS, SYSTEMS } from '../../../../src/ingest/enrichment/user-agent-names.js'
import { classifyUserAgent } from '../../../../src/ingest/enrichment/user-agents.js'
import { packagePath } from '../../../../src/lib/package-path.js'

interface GoldenAgent {
  readonly user_agent_string: string
  readonly family: string
}

const file = (name: string): string => packagePath(`../shared/data/reference-lists/${name}`)
const testIfPresent = (name: string): typeof test.skip =>
  existsSync(file(name)) ? test : test.skip
const agentsOf = (name: string): GoldenAgent[] =>
  (parse(readFileSync(file(name), 'utf8')) as { test_cases: GoldenAgent[] }).test_cases

/** Maps their names to ours, where theirs are more specific. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['Android', 'Android Browser'],
  ['BlackBerry WebKit', 'BlackBerry'],
  ['Chrome Mobile WebView', 'Chrome'],
  ['Google', 'Google App'],
  ['IE', 'Internet Explorer'],
  ['IE Mobile', 'Internet Explorer'],
  ['Mobile Safari UI/WKWebView', 'Safari'],
  ['Mobile Safari', 'Safari'],
  ['Opera Mini', 'Opera'],
  ['Opera Touch', 'Opera'],
  ['Sailfish Browser', 'Sailfish'],
  ['VivoBrowser', 'Vivo Browser'],
  ['WeChat Browser', 'WeChat'],
  ['webOS Browser', 'LG Browser'],
])
const browserName = (family: string): string =>
  OTHER_NAMES.get(family) ?? family.replace(/ (Mobile|Mini|Tablet|Beta|iOS|Mobile iOS)$/, '')

const OTHER_SYSTEMS: ReadonlyMap<string, string> = new Map([
  ['BlackBerry OS', 'BlackBerry'],
  ['BlackBerry Tablet OS', 'BlackBerry'],
  ['Chrome OS', 'ChromeOS'],
  ['Mac OS X', 'macOS'],
  ['Web0S', 'webOS'],
  ...['Ubuntu', 'Debian', 'Gentoo', 'Mandriva'].map((name) => [name, 'Linux'] as const),
])
const systemName = (family: string): string => OTHER_SYSTEMS.get(family) ?? family

/** Counts the user agents with a name that we have too, and the share that we classify the same. */
function agreement(
  agents: readonly GoldenAgent[],
  known: ReadonlyMap<string, string>,
  want: (family: string) => string,
  got: (agent: string) => string,
): { agents: number; agree: number } {
  const names = new Set(known.values())
  const named = agents.filter(({ family }) => names.has(want(family)))
  const same = named.filter((agent) => got(agent.user_agent_string) === want(agent.family))
  return { agents: named.length, agree: Math.floor((100 * same.length) / named.length) }
}

testIfPresent('uap-core/test_ua.yaml')('browsers agree with uap-core', () => {
  const agents = agentsOf('uap-core/test_ua.yaml')
  const found = agreement(agents, BROWSERS, browserName, (text) => classifyUserAgent(text).browser)
  expect(found.agents).toBeGreaterThanOrEqual(233)
  expect(found.agree).toBeGreaterThanOrEqual(95)
})

// uap-core reads iOS and macOS from the network library of an app, which is not a browser.
const APP = /CFNetwork|Darwin\//
testIfPresent('uap-core/test_os.yaml')('operating systems agree with uap-core', () => {
  const agents = agentsOf('uap-core/test_os.yaml').filter((a) => !APP.test(a.user_agent_string))
  const found = agreement(agents, SYSTEMS, systemName, (text) => classifyUserAgent(text).os)
  expect(found.agents).toBeGreaterThanOrEqual(243)
  expect(found.agree).toBeGreaterThanOrEqual(81)
})

testIfPresent('wikimedia-refinery/isSpider_test_data.csv')(
  'bots agree with the spiders of Wikimedia',
  () => {
    const lines = readFileSync(file('wikimedia-refinery/isSpider_test_data.csv'), 'utf8')
    const agents = lines
      .split('\n')
      .flatMap((line) => [...line.matchAll(/^[^,]*, ?(true|false),(.*)$/g)])
      .map(([, spider, text = '']) => ({ spider: spider === 'true', text }))
    const wrong = agents.filter(
      ({ spider, text }) => classifyUserAgent(text.trim()).is_bot !== spider,
    )
    expect({ agents: agents.length, wrong }).toEqual({ agents: 62, wrong: [] })
  },
)
