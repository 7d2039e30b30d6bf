/** Finds the patterns of the referrer list that match a host. */
import { parse } from 'tldts'

/**
 * A pattern is a host without `www.`. `{}` at its end stands for a public suffix; `{}` before its end stands for a
 * language or country, as in `{}.bing.com`.
 */
export interface HostPattern {
  readonly pattern: string
  /** Whether the pattern is for a parent domain of the host: `reddit.com` for `old.reddit.com`. */
  readonly isForParent: boolean
}

/** Subdomains that serve the same site to other devices. */
const DEVICE_SUBDOMAIN = /^(?:m|mobile|touch|amp|lm?)\./

const LANGUAGE = /^[a-z]{2}(?:[-_][a-z]{2})?$/

/**
 * The suffixes under which a company is assumed to own its name: those of countries, `cat` and `com`. Anyone can register a
 * name under the others: `google.{}` must not match `google.zip`.
 */
const TRUSTED_SUFFIX = /^(?:com|cat|(?:[a-z]+\.)?[a-z]{2})$/

/** Normalizes a host to the form of patterns: in lower case, without `www.`, port or trailing dot. */
export const normalizeHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^www\./, '')
    .replace(/\.?(?::[0-9]+)?$/, '')

/** Lists all patterns that match a normalized host, the most specific first. */
export function findPatterns(host: string): HostPattern[] {
  const canonical = host.replace(DEVICE_SUBDOMAIN, '')
  const exact = canonical === host ? [host] : [host, canonical]
  const own = exact.flatMap((name) => [name, ...replaceSuffix(name), ...replaceLanguage(name)])
  return [
    ...own.map((pattern) => ({ pattern, isForParent: false })),
    ...listParents(canonical).map((pattern) => ({ pattern, isForParent: true })),
  ]
}

function replaceSuffix(host: string): string[] {
  const { publicSuffix, isIcann } = parse(host, { extractHostname: false })
  if (publicSuffix === null || isIcann !== true || !TRUSTED_SUFFIX.test(publicSuffix)) return []
  const name = host.slice(0, -publicSuffix.length)
  return name === '' ? [] : [`${name}{}`]
}

function replaceLanguage(host: string): string[] {
  const labels = host.split('.')
  return labels.flatMap((label, at) =>
    at < labels.length - 2 && LANGUAGE.test(label) ? [labels.with(at, '{}').join('.')] : [],
  )
}

/** Limits the number of parent domains that are looked up for a host. */
const MAX_LABELS = 10

/** Lists the parent domains of a host, the nearest first, without the top-level domain. */
function listParents(host: string): string[] {
  const labels = host.split('.').slice(-MAX_LABELS)
  return labels.slice(1, -1).map((_, at) => labels.slice(at + 1).join('.'))
}
