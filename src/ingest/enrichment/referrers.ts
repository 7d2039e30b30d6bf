/** Classifies referrers: their name in reports, and their kind. */
import { OWN_REFERRERS } from './own-referrers.js'
import { findPatterns, normalizeHost, type HostPattern } from './referrer-hosts.js'
import { REFERRER_LIST, type ReferrerKind } from './referrer-list.js'

interface ReferrerInfo {
  /** The name in reports; for an unlisted referrer its host without `www.`, for no referrer an empty string. */
  readonly name: string
  readonly kind: ReferrerKind
}

/** The versions of the list, the library and `OWN_REFERRERS`. Raise `table` with each change of `OWN_REFERRERS`. */
const VERSIONS = { matomo: REFERRER_LIST.version, tldts: '7.5.4', table: '1' }

/** Identifies the rules. Referrers are stored with it, and classified again when it changes. */
export const REFERRERS_VERSION = Object.entries(VERSIONS)
  .map(([part, version]) => `${part} ${version}`)
  .join(', ')

/** By pattern. Later entries win, so `OWN_REFERRERS` overrides the list. */
const LISTED: ReadonlyMap<string, ReferrerInfo> = new Map(
  [...REFERRER_LIST.referrers, ...OWN_REFERRERS].flatMap(({ kind, name, patterns }) =>
    patterns.map((pattern) => [pattern, { name, kind }] as const),
  ),
)

/** Listed pages, each a host without `www.` and the start of a path; other pages of the host do not match them. */
export const REFERRER_PAGES: readonly string[] = [...LISTED.keys()].filter((pattern) =>
  pattern.includes('/'),
)

/** The length limit of a host name (RFC 1035 §2.3.4, without the root label). */
const MAX_HOST_LENGTH = 253

/**
 * Classifies a referrer by its key: a host, or one of `REFERRER_PAGES`. Upper case, `www.`, a port and a trailing dot
 * make no difference. A subdomain of a listed host has the same name and kind, except under search engines, whose
 * other subdomains are other services. Never throws.
 */
export function classifyReferrer(key: string): ReferrerInfo {
  const host = normalizeHost(key.slice(0, MAX_HOST_LENGTH))
  // A pattern is not a host, but a client may send one as its referrer.
  if (host.includes('{')) return { name: host, kind: '' }
  const match = key.includes('/') ? { pattern: key } : findPatterns(host).find(isListed)
  return LISTED.get(match?.pattern ?? '') ?? { name: host, kind: '' }
}

function isListed({ pattern, isForParent }: HostPattern): boolean {
  const listed = LISTED.get(pattern)
  if (listed === undefined) return false
  return !isForParent || (listed.kind !== 'search' && listed.kind !== '')
}
