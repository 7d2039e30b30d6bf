/** The files and folders that READMEs link to exist. */
import { expect, test } from '@jest/globals'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { packagePath } from '../../../src/lib/package-path.js'

const LINK = /\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)/g

const readmes = ['.', 'src', 'bench', 'clickhouse', 'docs', 'test'].flatMap((folder) =>
  readdirSync(packagePath(folder), { recursive: folder !== '.', encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.posix.join(folder, name)),
)

test('no README has a broken link', () => {
  const broken = readmes.flatMap((readme) =>
    [...readFileSync(packagePath(readme), 'utf8').matchAll(LINK)]
      .map(([, target = '']) => path.posix.join(path.posix.dirname(readme), target))
      .filter((target) => !existsSync(packagePath(target)))
      .map((target) => `${readme}: ${target}`),
  )
  expect(broken).toEqual([])
})
