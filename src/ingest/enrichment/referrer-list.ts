/**
 * Reads generated/referrer-list.json: hosts of search engines, social networks and assistants, by the name that
 * reports show. `npm run lists` writes it from https://github.com/matomo-org/searchengine-and-social-list (CC0-1.0).
 */
import { readFileSync } from 'node:fs'
import type { ReferrerType } from '../../contract/api.js'
import { packagePath } from '../../lib/package-path.js'

/** The kinds of listed referrers; empty for a referrer of no known kind. */
export type ReferrerKind = '' | Extract<ReferrerType, 'search' | 'social' | 'email' | 'llm'>

export interface ListedReferrer {
  readonly kind: ReferrerKind
  readonly name: string
  /** Hosts, and paths of hosts, in the form of `referrer-hosts.ts`. */
  readonly patterns: readonly string[]
}

interface ReferrerList {
  /** The version of the source. */
  readonly version: string
  readonly referrers: readonly ListedReferrer[]
}

export const REFERRER_LIST = JSON.parse(
  readFileSync(packagePath('generated/referrer-list.json'), 'utf8'),
) as ReferrerList
