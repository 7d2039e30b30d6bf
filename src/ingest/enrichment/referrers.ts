/** The name and the kind of a referrer. */
import { OWN_REFERRERS } from './own-referrers.js'
import { findPatterns, normalizeHost, type HostPattern } from './referrer-hosts.js'
import { LIST_VERSION, REFERRER_LIST } from './referrer-list.js'

export type ReferrerKind = '' | 'search' | 'social' | 'email' | 'llm'

export interface ReferrerInfo {
  /** What reports call it; an unlisted referrer's host without `www.`, the empty string for no referrer. */
  readonly name: string
  /** Empty where the referrer is of no kind that is known. */
  readonly kind: ReferrerKind
}

/** Where the rules come from, and the number of our own table: to be raised with each change of it. */
const RULES = { matomo: LIST_VERSION, tldts: '7.5.4', table: '1' }

/** Names the rules: what was derived by rules of another name is to be derived anew. */
export const REFERRERS_VERSION = Object.entries(RULES)
  .map(([part, version]) => `${part} ${version}`)
  .join(', ')

const linesOf = (lists: Readonly<Record<string, string>>): [string, ReferrerInfo][] =>
  Object.entries(lists).flatMap(([kind, lines]) =>
    lines
      .trim()
      .split('\n')
      .flatMap((line) => {
        const [name = '', patterns = ''] = line.split(': ')
        const facts = { name, kind: kind as ReferrerKind }
        return patterns.split(' ').map((pattern): [string, ReferrerInfo] => [pattern, facts])
      }),
  )

/** By pattern; of two lines for one pattern ours counts. */
const LISTED: ReadonlyMap<string, ReferrerInfo> = new Map([
  ...linesOf(REFERRER_LIST),
  ...linesOf(OWN_REFERRERS),
])

/** Listed pages of hosts that are otherwise something else: a host without `www.`, and the start of a path. */
export const REFERRER_PAGES: readonly string[] = [...LISTED.keys()].filter((pattern) =>
  pattern.includes('/'),
)

/** No host is longer than this. */
const LONGEST = 253

/**
 * Describes a referrer by its key: a host, or one of the pages. Upper case, `www.`, a port and a dot at the
 * end do not matter. A subdomain of a listed host is of its kind and name, but for search engines, whose other
 * subdomains are other services. Never throws.
 */
export function classifyReferrer(key: string): ReferrerInfo {
  const host = normalizeHost(key.slice(0, LONGEST))
  // A pattern is no host, though somebody may send it as one.
  if (host.includes('{')) return { name: host, kind: '' }
  const fitting = key.includes('/') ? { pattern: key } : findPatterns(host).find(describes)
  return LISTED.get(fitting?.pattern ?? '') ?? { name: host, kind: '' }
}

function describes({ pattern, above }: HostPattern): boolean {
  const listed = LISTED.get(pattern)
  return listed !== undefined && !(above && (listed.kind === 'search' || listed.kind === ''))
}
