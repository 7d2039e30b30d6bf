/** Which patterns of the list of referrers a host fits. */
import { parse } from 'tldts'

/**
 * A pattern is a host without `www.`. `{}` at its end stands for a public suffix, `{}` before that for a
 * language or country, as in `{}.bing.com`.
 */
export interface HostPattern {
  readonly pattern: string
  /** A pattern for a host above this one: `reddit.com` for `old.reddit.com`. */
  readonly above: boolean
}

/** Subdomains that show the same site to other devices. */
const SAME_SITE = /^(?:m|mobile|touch|amp|lm?)\./

const LANGUAGE = /^[a-z]{2}(?:[-_][a-z]{2})?$/

/**
 * Endings under which a company has its own name everywhere: those of countries, and `com`. Others are sold to anybody:
 * `google.{}` must not fit `google.zip`.
 */
const OWN_ENDING = /^(?:com|cat|(?:[a-z]+\.)?[a-z]{2})$/

/** The host as patterns write it: lower case, without `www.`, the dot of the root and a port. */
export const normalizeHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^www\./, '')
    .replace(/\.?(?::[0-9]+)?$/, '')

/** All patterns that a plain host fits, the closest first. */
export function findPatterns(host: string): HostPattern[] {
  const same = host.replace(SAME_SITE, '')
  const exact = same === host ? [host] : [host, same]
  return [
    ...exact.flatMap((name) => [name, ...anyEnding(name), ...anyLanguage(name)]).map(fits(false)),
    ...parents(same).map(fits(true)),
  ]
}

const fits =
  (above: boolean) =>
  (pattern: string): HostPattern => ({ pattern, above })

function anyEnding(host: string): string[] {
  const { publicSuffix, isIcann } = parse(host, { extractHostname: false })
  if (publicSuffix === null || isIcann !== true || !OWN_ENDING.test(publicSuffix)) return []
  const name = host.slice(0, -publicSuffix.length)
  return name === '' ? [] : [`${name}{}`]
}

function anyLanguage(host: string): string[] {
  const labels = host.split('.')
  return labels.flatMap((label, at) =>
    at < labels.length - 2 && LANGUAGE.test(label) ? [labels.with(at, '{}').join('.')] : [],
  )
}

/** The domains a host is under, the nearest first; the last label alone is none. */
function parents(host: string): string[] {
  const labels = host.split('.').slice(-10)
  return labels.slice(1, -1).map((_, at) => labels.slice(at + 1).join('.'))
}
