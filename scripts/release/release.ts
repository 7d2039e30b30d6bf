/** Makes a release: `npm run release -- 0.2.0 [--date 2027-01-31] [--dry-run]`. See CONTRIBUTING.md. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { packagePath } from '../../src/lib/package-path.js'
import {
  CHANGELOG,
  PACKAGE_CHANGELOGS,
  readUnreleased,
  releasePackage,
  releaseUnreleased,
} from './changelog.js'
import {
  hasTag,
  listDisagreements,
  nameTag,
  PLACES,
  readFrom,
  readProjectVersion,
  runGit,
  type ReadFile,
} from './versions.js'

const USAGE = 'usage: npm run release -- <version: 0.2.0> [--date <day: 2027-01-31>] [--dry-run]'

/** The types of the contracts. Those of the last release are kept, for the test that finds changes that break programs. */
const TYPES = ['openapi.d.ts', 'collector.d.ts']

export interface Release {
  readonly version: string
  /** The day of the release, `YYYY-MM-DD`. */
  readonly date: string
  /** Whether to say only what a release would do. */
  readonly isDryRun: boolean
}

/** @throws Error with the usage if the arguments have another form */
export function readArguments(args: readonly string[], now: Date): Release {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { date: { type: 'string' }, 'dry-run': { type: 'boolean', default: false } },
  })
  const [version = '', ...others] = positionals
  const { date = now.toISOString().slice(0, 10), 'dry-run': isDryRun } = values
  if (!isVersion(version) || !isDay(date) || others.length > 0) throw new Error(USAGE)
  return { version, date, isDryRun }
}

const isVersion = (text: string): boolean => /^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$/.test(text)

const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`))

/** @throws Error that says why the repository cannot be released as it is */
function checkRepository(root: string, version: string): void {
  const disagreements = listDisagreements(root)
  if (disagreements.length > 0) throw new Error(disagreements.join('\n'))
  const present = readProjectVersion(readFrom(root))
  if (!isLater(version, present)) throw new Error(`${version} is not later than ${present}`)
  if (hasTag(root, nameTag(version))) throw new Error(`the tag ${nameTag(version)} exists`)
  const changes = runGit(root, 'status', '--porcelain').trimEnd()
  if (changes !== '') throw new Error(`commit or remove these changes first:\n${changes}`)
}

const isLater = (version: string, other: string): boolean =>
  version.localeCompare(other, 'en', { numeric: true }) > 0

/** Builds the files of the release: each with its new text. */
function buildFiles(read: ReadFile, { version, date }: Release): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (const { file, pattern } of PLACES) {
    const text = files.get(file) ?? read(file) ?? ''
    files.set(
      file,
      text.replace(pattern, (_, before: string) => before + version),
    )
  }
  for (const file of PACKAGE_CHANGELOGS) {
    files.set(file, releasePackage(read(file) ?? '', version, date))
  }
  for (const file of TYPES) {
    files.set(`generated/released/${file}`, read(`generated/${file}`) ?? '')
  }
  return files.set(CHANGELOG, releaseUnreleased(read(CHANGELOG) ?? '', version, date))
}

/**
 * Writes the version and the changelog of a release, commits and tags it. Returns what it did, or would do, in sentences.
 *
 * @throws Error that says why the repository cannot be released as it is
 */
export function makeRelease(root: string, release: Release): string {
  const { version, date, isDryRun } = release
  checkRepository(root, version)
  const read = readFrom(root)
  const section = readUnreleased(read(CHANGELOG) ?? '')
  const files = buildFiles(read, release)
  const [tag, subject] = [nameTag(version), `Release ${version}`]
  if (isDryRun) {
    const names = [...files.keys()].map((file) => `  ${file}\n`).join('')
    return `Would write ${version} of ${date} to:\n${names}Would commit "${subject}" and tag it ${tag}:\n\n${section}`
  }
  for (const [file, text] of files) writeFileSync(path.join(root, file), text)
  runGit(root, 'commit', '--quiet', '--message', subject, '--', ...files.keys())
  // Headings of the section start with #, which git takes for comments otherwise.
  const message = ['--message', `Tallyhouse ${version}`, '--message', section]
  runGit(root, 'tag', '--annotate', '--cleanup=whitespace', ...message, tag)
  return `Committed and tagged ${tag}. To publish it: git push --follow-tags`
}

function main(): void {
  try {
    console.log(makeRelease(packagePath('.'), readArguments(process.argv.slice(2), new Date())))
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main()
