/**
 * Run by `npm run lists -- <folder> <version>`: writes generated/referrer-list.json from the files of
 * https://github.com/matomo-org/searchengine-and-social-list in a folder.
 */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { parse } from 'yaml'
import { findPatterns, normalizeHost } from '../src/ingest/enrichment/referrer-hosts.js'
import type { ListedReferrer } from '../src/ingest/enrichment/referrer-list.js'
import { packagePath } from '../src/lib/package-path.js'

/** The texts of the three files. */
export interface MatomoFiles {
  readonly searchEngines: string
  readonly socials: string
  readonly assistants: string
}

const KINDS = ['llm', 'social', 'search'] as const
type Kind = (typeof KINDS)[number]

/** A file: patterns by name. Search engines list objects with URLs, the others list the URLs themselves. */
type MatomoFile = Readonly<
  Record<string, readonly (string | { readonly urls?: readonly string[] })[]>
>

interface Entry {
  readonly kind: Kind
  readonly name: string
  readonly pattern: string
}

/**
 * Returns the text of generated/referrer-list.json. A host in several files is taken from the first of assistants,
 * social networks, search engines. Left out is what other patterns cover: a path that does not change the kind of
 * its host, and a host that fits a wider pattern of the same name.
 */
export function generateReferrerList(files: MatomoFiles, version: string): string {
  const entries = dropRepeats(readEntries(files)).filter(changesKind)
  const names = new Map(entries.map(({ pattern, name }) => [pattern, name]))
  const kept = entries.filter(({ pattern, name }) => !fitsWiderPattern(pattern, name, names))
  const lines = groupByName(kept).map((referrer) => `    ${JSON.stringify(referrer)}`)
  return `{
  "comment": "Written by npm run lists: do not edit.",
  "source": "https://github.com/matomo-org/searchengine-and-social-list",
  "license": "CC0-1.0",
  "version": ${JSON.stringify(version)},
  "referrers": [
${lines.join(',\n')}
  ]
}
`
}

const readEntries = ({ assistants, socials, searchEngines }: MatomoFiles): Entry[] => [
  ...parseFile(assistants, 'llm'),
  ...parseFile(socials, 'social'),
  ...parseFile(searchEngines, 'search'),
]

const parseFile = (text: string, kind: Kind): Entry[] =>
  Object.entries(parse(text) as MatomoFile).flatMap(([name, listed]) =>
    listed
      .flatMap((item) => (typeof item === 'string' ? [item] : (item.urls ?? [])))
      .filter((url) => !url.includes('//'))
      .map((url) => ({ kind, name: cleanName(name), pattern: toPattern(url) })),
  )

/** Decodes a name, which may be escaped as in a URL. Stored names never had these four characters. */
const cleanName = (name: string): string => decodeURIComponent(name).replace(/[\\`$:]/g, '')

function toPattern(url: string): string {
  const [host = '', ...path] = url.split('/')
  return [normalizeHost(host), ...path].join('/').replace(/\/$/, '')
}

function dropRepeats(entries: readonly Entry[]): Entry[] {
  const first = new Map<string, Entry>()
  for (const entry of entries) if (!first.has(entry.pattern)) first.set(entry.pattern, entry)
  return [...first.values()]
}

const changesKind = ({ kind, pattern }: Entry, _: number, entries: readonly Entry[]): boolean => {
  const [host] = pattern.split('/')
  return host === pattern || !entries.some((other) => other.pattern === host && other.kind === kind)
}

const fitsWiderPattern = (
  pattern: string,
  name: string,
  names: ReadonlyMap<string, string>,
): boolean =>
  findPatterns(pattern).some(
    (wider) => !wider.isForParent && wider.pattern !== pattern && names.get(wider.pattern) === name,
  )

/** One row per kind and name, sorted by name within the kind, with sorted patterns. */
function groupByName(entries: readonly Entry[]): ListedReferrer[] {
  return KINDS.flatMap((kind) => {
    const patterns = new Map<string, string[]>()
    for (const entry of entries.filter((one) => one.kind === kind)) {
      patterns.set(entry.name, [...(patterns.get(entry.name) ?? []), entry.pattern])
    }
    return [...patterns]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, found]) => ({ kind, name, patterns: found.sort() }))
  })
}

async function main(): Promise<void> {
  const [folder, version] = process.argv.slice(2)
  if (folder === undefined || version === undefined || !/^\d+\.\d+\.\d+$/.test(version)) {
    throw new Error('usage: npm run lists -- <folder with the .yml files> <their version: 1.4.1>')
  }
  const read = (file: string): Promise<string> => readFile(path.join(folder, file), 'utf8')
  const files = {
    searchEngines: await read('SearchEngines.yml'),
    socials: await read('Socials.yml'),
    assistants: await read('AIAssistants.yml'),
  }
  const list = generateReferrerList(files, version)
  await writeFile(packagePath('generated/referrer-list.json'), list)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main()
