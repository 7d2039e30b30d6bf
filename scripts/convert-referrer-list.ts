/** Makes the list of referrers out of the files of Matomo's searchengine-and-social-list. */
import { parse } from 'yaml'
import { findPatterns, normalizeHost } from '../src/ingest/enrichment/referrer-hosts.js'

/** The texts of the three files. */
export interface MatomoFiles {
  readonly searchEngines: string
  readonly socials: string
  readonly assistants: string
}

type Kind = 'llm' | 'social' | 'search'
type Listed = Readonly<Record<string, readonly (string | { readonly urls?: readonly string[] })[]>>

interface Entry {
  readonly kind: Kind
  readonly name: string
  readonly pattern: string
}

/**
 * The text of `referrer-list.ts`. A host that stands in several files is taken from the first of: assistants,
 * social networks, search engines. Left out is what other patterns say already: a path that does not
 * change the kind of its host, and a host that fits a wider pattern of the same name.
 */
export function convertLists(files: MatomoFiles, version: string): string {
  const entries = withoutRepeats(entriesOf(files)).filter(changesKind)
  const names = new Map(entries.map(({ pattern, name }) => [pattern, name]))
  const kept = entries.filter(({ pattern, name }) => !fitsWider(pattern, name, names))
  return `/**
 * Hosts of search engines, social networks and assistants, by the name they are reported with.
 *
 * Source: https://github.com/matomo-org/searchengine-and-social-list, version ${version}, CC0-1.0.
 * Made by \`npm run lists\`: never edited. A line is a name, a colon, and its patterns.
 */
export const LIST_VERSION = '${version}'

export const REFERRER_LIST = {
${(['llm', 'social', 'search'] as const).map((kind) => `  ${kind}: \`\n${linesOf(kept, kind)}\`,\n`).join('')}} as const
`
}

const entriesOf = ({ assistants, socials, searchEngines }: MatomoFiles): Entry[] => [
  ...read(assistants, 'llm'),
  ...read(socials, 'social'),
  ...read(searchEngines, 'search'),
]

const read = (text: string, kind: Kind): Entry[] =>
  Object.entries(parse(text) as Listed).flatMap(([name, listed]) =>
    listed
      .flatMap((item) => (typeof item === 'string' ? [item] : (item.urls ?? [])))
      .filter((url) => !url.includes('//'))
      .map((url) => ({ kind, name: plainName(name), pattern: plainPattern(url) })),
  )

/** A name may be escaped as in a URL; what ends a name or the template it stands in is no part of it. */
const plainName = (name: string): string => decodeURIComponent(name).replace(/[\\`$:]/g, '')

function plainPattern(url: string): string {
  const [host = '', ...path] = url.split('/')
  return [normalizeHost(host), ...path].join('/').replace(/\/$/, '')
}

function withoutRepeats(entries: readonly Entry[]): Entry[] {
  const first = new Map<string, Entry>()
  for (const entry of entries) if (!first.has(entry.pattern)) first.set(entry.pattern, entry)
  return [...first.values()]
}

const changesKind = ({ kind, pattern }: Entry, _: number, entries: readonly Entry[]): boolean => {
  const [host] = pattern.split('/')
  return host === pattern || !entries.some((other) => other.pattern === host && other.kind === kind)
}

const fitsWider = (pattern: string, name: string, names: ReadonlyMap<string, string>): boolean =>
  findPatterns(pattern).some(
    (fitting) =>
      !fitting.isForParent && fitting.pattern !== pattern && names.get(fitting.pattern) === name,
  )

function linesOf(entries: readonly Entry[], kind: Kind): string {
  const byName = new Map<string, string[]>()
  for (const entry of entries.filter((one) => one.kind === kind)) {
    byName.set(entry.name, [...(byName.get(entry.name) ?? []), entry.pattern])
  }
  return [...byName]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, patterns]) => `${name}: ${patterns.sort().join(' ')}\n`)
    .join('')
}
