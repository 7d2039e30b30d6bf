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

test.each(readmes)('%s', (readme) => {
  const text = readFileSync(packagePath(readme), 'utf8')
  const targets = [...text.matchAll(LINK)].map(([, target = '']) => target)
  const folder = path.posix.dirname(readme)
  const broken = targets.filter(
    (target) => !existsSync(packagePath(path.posix.join(folder, target))),
  )
  expect(broken).toEqual([])
})
