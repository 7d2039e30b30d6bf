/** All places have the same version, and a release keeps them so: made in a copy of the project, a repository of its own. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { releasePackage } from '../../../scripts/release/changelog.js'
import { makeRelease, readArguments } from '../../../scripts/release/release.js'
import {
  listDisagreements,
  readFrom,
  readProjectVersion,
  runGit,
} from '../../../scripts/release/versions.js'
import { packagePath } from '../../../src/lib/package-path.js'

const present = readProjectVersion(readFrom(packagePath('.')))
const next = present.replace(/\d+$/, (patch) => String(Number(patch) + 1))

/** What a repository does not hold, or what a release does not read. */
const LEFT_OUT = new Set(['.git', 'node_modules', 'dist', 'data', 'coverage', 'images'])

const CLIENT_CHANGELOGS = ['clients/python/CHANGELOG.md', 'clients/typescript/CHANGELOG.md']

let copy: string
beforeAll(async () => {
  copy = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-release-'))
  await cp(packagePath('.'), copy, {
    recursive: true,
    filter: (file) => !LEFT_OUT.has(path.basename(file)),
  })
  git('init', '--quiet')
  git('config', 'user.name', 'A maintainer')
  git('config', 'user.email', 'maintainer@example.com')
  git('config', 'commit.gpgSign', 'false')
  git('config', 'tag.gpgSign', 'false')
  const changelog = await readCopied('CHANGELOG.md')
  const unreleased = '## Unreleased\n\n### Added\n\n- A $& of its own.\n'
  await writeCopied(
    'CHANGELOG.md',
    changelog.replace(/^## Unreleased\n/m, () => unreleased),
  )
  for (const file of CLIENT_CHANGELOGS)
    await writeCopied(file, '# Changelog\n\n## Unreleased\n\n- A line of its own.\n')
  commit('The project')
})
afterAll(() => rm(copy, { recursive: true, force: true }))

beforeEach(() => {
  git('reset', '--quiet', '--hard')
})

const git = (...args: readonly string[]): string => runGit(copy, ...args).trimEnd()
const commit = (subject: string): void => {
  git('add', '--all')
  git('commit', '--quiet', '--message', subject)
}
const readCopied = (file: string): Promise<string> => readFile(path.join(copy, file), 'utf8')
const writeCopied = (file: string, text: string): Promise<void> =>
  writeFile(path.join(copy, file), text)

const NOW = new Date('2027-01-31T23:59:59Z')

/** Makes a release of the copy as the command line does. */
const release = (...args: readonly string[]): string => makeRelease(copy, readArguments(args, NOW))

test('all places of the project have the same version', () => {
  expect(listDisagreements(packagePath('.'))).toEqual([])
})

describe('disagreements', () => {
  test('of a file are named', async () => {
    await writeCopied('clients/python/src/tallyhouse/_version.py', '__version__ = "9.9.9"\n')
    await writeCopied('clients/typescript/package.json', '{}\n')
    await writeCopied('CHANGELOG.md', '# Changelog\n\n## Unreleased\n')
    expect(listDisagreements(copy)).toEqual([
      `clients/typescript/package.json has no version instead of ${present}`,
      `clients/python/src/tallyhouse/_version.py has 9.9.9 instead of ${present}`,
      `CHANGELOG.md has no version instead of ${present}`,
    ])
  })

  test('of a tagged commit are named', async () => {
    git('checkout', '--quiet', '-b', 'tagged')
    await writeCopied('clients/python/src/tallyhouse/_version.py', '__version__ = "9.9.9"\n')
    commit('Another version')
    git('tag', `v${present}`)
    git('checkout', '--quiet', '-')
    const found = listDisagreements(copy)
    git('tag', '--delete', `v${present}`)
    expect(found).toEqual([
      `at the tag v${present}, clients/python/src/tallyhouse/_version.py has 9.9.9 instead of ${present}`,
    ])
  })

  test('of a folder without git are those of its files', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-no-git-'))
    await cp(copy, folder, { recursive: true, filter: (file) => path.basename(file) !== '.git' })
    expect(listDisagreements(folder)).toEqual([])
    await rm(folder, { recursive: true })
  })
})

describe('a release is refused', () => {
  const usage = 'usage: npm run release -- <version: 0.2.0> [--date <day: 2027-01-31>] [--dry-run]'
  test.each([
    ['without a version', [], usage],
    ['of a version of another form', ['v1'], usage],
    ['of a day that does not exist', [next, '--date', '2027-13-01'], usage],
    ['of the present version', [present], `${present} is not later than ${present}`],
    ['of an earlier version', ['0.0.9'], `0.0.9 is not later than ${present}`],
  ])('%s', (_, args, message) => {
    expect(() => release(...args)).toThrow(new Error(message))
  })

  test('in a changed working tree', async () => {
    await writeCopied('README.md', 'changed')
    expect(() => release(next)).toThrow(
      new Error('commit or remove these changes first:\n M README.md'),
    )
  })

  test('if places disagree', async () => {
    await writeCopied('clients/typescript/package.json', '{}\n')
    expect(() => release(next)).toThrow(
      new Error(`clients/typescript/package.json has no version instead of ${present}`),
    )
  })

  test('if the version has a tag', () => {
    git('tag', `v${next}`)
    expect(() => release(next)).toThrow(new Error(`the tag v${next} exists`))
    git('tag', '--delete', `v${next}`)
  })

  test('without a line in the changelog', async () => {
    const before = git('rev-parse', 'HEAD')
    const changelog = await readCopied('CHANGELOG.md')
    await writeCopied(
      'CHANGELOG.md',
      changelog.replace(/^## Unreleased\n[\s\S]*?(?=^## )/m, '## Unreleased\n\n'),
    )
    commit('Nothing to release')
    expect(() => release(next)).toThrow(
      new Error('CHANGELOG.md has nothing below "## Unreleased": write what has changed'),
    )
    git('reset', '--quiet', '--hard', before)
  })
})

test('a dry run of the script says what a release would do, and does nothing', () => {
  const before = git('rev-parse', 'HEAD')
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', path.join(copy, 'scripts/release/release.ts'), next, '--dry-run'],
    { cwd: packagePath('.'), encoding: 'utf8' },
  )
  const today = /^Would write \S+ of (?<date>\S+) to:/.exec(stdout)?.groups?.['date'] ?? ''
  expect([status, stderr, stdout]).toEqual([
    0,
    '',
    `${release(next, '--dry-run', '--date', today)}\n`,
  ])
  expect(stdout).toContain(`  package.json\n`)
  expect(stdout).toContain(`Would commit "Release ${next}" and tag it v${next}:\n\n### Added\n`)
  expect([git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag')]).toEqual([
    before,
    '',
    '',
  ])
})

test('a package in which nothing has changed says so', () => {
  expect(releasePackage('# Changelog\n\n## Unreleased\n', '0.2.0', '2027-01-31')).toBe(
    '# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2027-01-31\n\nNo changes.\n',
  )
})

test('a release writes the version everywhere, commits and tags', async () => {
  expect(release(next)).toBe(`Committed and tagged v${next}. To publish it: git push --follow-tags`)
  expect([git('status', '--porcelain'), git('log', '-1', '--format=%s')]).toEqual([
    '',
    `Release ${next}`,
  ])
  expect(git('diff', '--name-only', 'HEAD~').split('\n').sort()).toEqual([
    'CHANGELOG.md',
    'clients/python/CHANGELOG.md',
    'clients/python/src/tallyhouse/_version.py',
    'clients/typescript/CHANGELOG.md',
    'clients/typescript/package-lock.json',
    'clients/typescript/package.json',
    'generated/released/collector.d.ts',
    'generated/released/openapi.d.ts',
    'openapi/collector.yaml',
    'openapi/openapi.yaml',
    'package-lock.json',
    'package.json',
  ])
  // One line for each place. In each changelog, the section gets a new heading.
  expect(git('diff', '--shortstat', 'HEAD~', '--', '.', ':!*CHANGELOG.md', ':!generated')).toMatch(
    / 9 insertions\(\+\), 9 deletions\(-\)$/,
  )
  expect(git('diff', '--shortstat', 'HEAD~', '--', '*CHANGELOG.md')).toMatch(
    / 3 files changed, 6 insertions\(\+\)$/,
  )
  expect(await readCopied('CHANGELOG.md')).toContain(
    `\n## Unreleased\n\n## ${next} - 2027-01-31\n\n### Added\n\n- A $& of its own.\n`,
  )
  for (const file of CLIENT_CHANGELOGS) {
    expect(await readCopied(file)).toContain(
      `\n## Unreleased\n\n## ${next} - 2027-01-31\n\n- A line of its own.\n`,
    )
  }
  const tags = '--format=%(objecttype) %(refname:short) %(contents:subject)'
  expect(git('tag', '--list', tags)).toBe(`tag v${next} Tallyhouse ${next}`)
  expect(git('tag', '--list', '--format=%(contents:body)')).toMatch(/^### Added\n/)
  expect(listDisagreements(copy)).toEqual([])
})
