/** The image and the package hold every file that the service reads. */
import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { packagePath } from '../../../src/lib/package-path.js'
import { listSources } from './source-tree.js'

const readLines = (file: string): readonly string[] =>
  readFileSync(packagePath(file), 'utf8').split('\n')

interface Copy {
  /** The stage to copy from; undefined for the build context. */
  readonly from: string | undefined
  readonly sources: readonly string[]
}

function parseCopy(line: string): Copy {
  const words = line.split(/\s+/).slice(1)
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length)
  return { from, sources: words.filter((word) => !word.startsWith('--')).slice(0, -1) }
}

const dockerfile = readLines('Dockerfile')
const copies = dockerfile.filter((line) => line.startsWith('COPY ')).map(parseCopy)
const lastStage = dockerfile.slice(dockerfile.findLastIndex((line) => line.startsWith('FROM ')))

/** Whether a path is that folder or file, or is within it. */
const isWithin = (file: string, folder: string): boolean =>
  file === folder || file.startsWith(`${folder}/`)

/** Whether .dockerignore leaves a path out: the last rule that matches it or a folder above it decides. */
function isIgnored(file: string, rules: readonly string[]): boolean {
  const rule = rules.findLast((one) => one === '*' || isWithin(file, one.replace(/^!/, '')))
  return rule?.startsWith('!') === false
}

test('.dockerignore lets through what the Dockerfile copies', () => {
  const rules = readLines('.dockerignore').filter((line) => line !== '' && !line.startsWith('#'))
  const copied = copies.filter(({ from }) => from === undefined).flatMap(({ sources }) => sources)
  expect(copied).toContain('openapi/collector.yaml')
  expect(copied.filter((file) => isIgnored(file, rules))).toEqual([])
})

test('a path that no rule lets through is ignored', () => {
  const rules = ['*', '!src', '!openapi/openapi.yaml']
  const files = ['src', 'src/cli.ts', 'srcs', 'openapi', 'openapi/openapi.yaml']
  expect(files.filter((file) => isIgnored(file, rules))).toEqual(['srcs', 'openapi'])
})

/** The files and folders that the service finds with packagePath; of a template, the part before its first `${}`. */
const readFiles = listSources().flatMap((file) =>
  [...readFileSync(packagePath(`src/${file}`), 'utf8').matchAll(/\bpackagePath\(\s*['`]([^'`$]+)/g)]
    .map(([, found = '']) => found.replace(/\/$/, ''))
    .filter((found) => found !== ''),
)

/** Whether a file or folder is among those held, or contains or is within one of them. */
const holds = (held: readonly string[], file: string): boolean =>
  held.some((one) => isWithin(file, one) || isWithin(one, file))

test.each([...new Set(readFiles)])('the image and the package hold %s', (file) => {
  const inImage = lastStage
    .filter((line) => line.startsWith('COPY '))
    .flatMap((line) => parseCopy(line).sources)
    .map((source) => path.posix.relative('/app', path.posix.resolve('/app', source)))
  expect(holds(inImage, file)).toBe(true)
  const { files } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as {
    readonly files: readonly string[]
  }
  expect(holds([...files, 'package.json'], file)).toBe(true)
})
