/** Where the version of the project stands, and whether all places agree. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { CHANGELOG, findNewestRelease } from './changelog.js'

/** A place of the version: the first match of a pattern, which captures what stands before the version, and the version. */
interface VersionPlace {
  readonly file: string
  readonly pattern: RegExp
}

const inPackage = (file: string): VersionPlace => ({
  file,
  pattern: /^( {2}"version": ")([^"]*)/m,
})
/** The package itself, which is the first of the packages in its lock file. */
const inLockedPackages = (file: string): VersionPlace => ({
  file,
  pattern: /^( {6}"version": ")([^"]*)/m,
})
const inContract = (file: string): VersionPlace => ({
  file,
  pattern: /^( {2}version: )(.*)/m,
})

export const PLACES: readonly VersionPlace[] = [
  inPackage('package.json'),
  inPackage('package-lock.json'),
  inLockedPackages('package-lock.json'),
  inPackage('clients/typescript/package.json'),
  inPackage('clients/typescript/package-lock.json'),
  inLockedPackages('clients/typescript/package-lock.json'),
  {
    file: 'clients/python/src/tallyhouse/_version.py',
    pattern: /^(__version__ = ")([^"]*)/m,
  },
  inContract('openapi/openapi.yaml'),
  inContract('openapi/collector.yaml'),
]

/** Reads a file of the project by its path; undefined if there is none. */
export type ReadFile = (file: string) => string | undefined

/** Reads files of a folder. */
export const readFrom =
  (root: string): ReadFile =>
  (file) =>
    unlessItFails(() => readFileSync(path.join(root, file), 'utf8'))

/** Reads files as they are in a commit. */
const readAt =
  (root: string, commit: string): ReadFile =>
  (file) =>
    unlessItFails(() => runGit(root, 'show', `${commit}:${file}`))

/** Returns the name of the tag of a version. */
export const nameTag = (version: string): string => `v${version}`

/** Reads the version of the project from package.json. */
export function readProjectVersion(read: ReadFile): string {
  const { version } = JSON.parse(read('package.json') ?? '{}') as { readonly version?: string }
  if (version === undefined) throw new Error('package.json has no version')
  return version
}

/**
 * Lists the places that do not have the version of package.json, in sentences: those of the folder, and if the version has a tag,
 * those of the tagged commit. A clone without tags, or a folder without git, has nothing to compare them with.
 */
export function listDisagreements(root: string): readonly string[] {
  const read = readFrom(root)
  const version = readProjectVersion(read)
  const tag = nameTag(version)
  const atTag = hasTag(root, tag) ? listDifferences(readAt(root, tag), version) : []
  return [
    ...listDifferences(read, version),
    ...atTag.map((difference) => `at the tag ${tag}, ${difference}`),
  ]
}

/** Whether the repository has the tag. A folder without git has none. */
export const hasTag = (root: string, tag: string): boolean =>
  (unlessItFails(() => runGit(root, 'tag', '--list', tag)) ?? '').trim() === tag

function listDifferences(read: ReadFile, version: string): readonly string[] {
  const found = [
    ...PLACES.map((place) => [place.file, findVersion(read, place)] as const),
    [CHANGELOG, findNewestRelease(read(CHANGELOG) ?? '')] as const,
  ]
  return found
    .filter(([, other]) => other !== version)
    .map(([file, other]) => `${file} has ${other ?? 'no version'} instead of ${version}`)
}

const findVersion = (read: ReadFile, { file, pattern }: VersionPlace): string | undefined =>
  pattern.exec(read(file) ?? '')?.[2]

/** Runs git in a folder and returns its output. What git complains about is in the error. */
export const runGit = (root: string, ...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

function unlessItFails<Result>(run: () => Result): Result | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}
