/** The sections of the changelog: what is unreleased, and what each release has. */

export const CHANGELOG = 'CHANGELOG.md'

/** The changelogs of packages, whose versions are those of the project. */
export const PACKAGE_CHANGELOGS: readonly string[] = [
  'clients/python/CHANGELOG.md',
  'clients/typescript/CHANGELOG.md',
]

const UNRELEASED = /^## Unreleased\n(?<section>[\s\S]*?)(?=^## |(?![\s\S]))/m
const RELEASE = /^## (?<version>\d+\.\d+\.\d+) - \d{4}-\d{2}-\d{2}$/m

/** Returns the version of the newest release; undefined if there is none with a date. */
export const findNewestRelease = (changelog: string): string | undefined =>
  RELEASE.exec(changelog)?.groups?.['version']

/**
 * Returns the text of the section Unreleased.
 *
 * @throws Error if there is no such section, or if it is empty
 */
export function readUnreleased(changelog: string): string {
  const section = UNRELEASED.exec(changelog)?.groups?.['section']?.trim()
  if (section === undefined) throw new Error(`${CHANGELOG} has no section "## Unreleased"`)
  if (section === '') {
    throw new Error(`${CHANGELOG} has nothing below "## Unreleased": write what has changed`)
  }
  return section
}

/** Makes the section Unreleased that of a release, and starts an empty one above it. */
export function releaseUnreleased(
  changelog: string,
  version: string,
  date: string,
  section = readUnreleased(changelog),
): string {
  const sections = `## Unreleased\n\n## ${version} - ${date}\n\n${section}\n\n`
  return `${changelog.replace(UNRELEASED, () => sections).trimEnd()}\n`
}

/** The same for a package, in which nothing need have changed. */
export function releasePackage(changelog: string, version: string, date: string): string {
  const section = UNRELEASED.exec(changelog)?.groups?.['section']?.trim()
  return releaseUnreleased(changelog, version, date, section === '' ? 'No changes.' : section)
}
