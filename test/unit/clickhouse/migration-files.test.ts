/** The files of migrations: their names and numbers. */
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import {
  MigrationError,
  PACKAGE_MIGRATIONS,
  readMigrations,
} from '../../../src/clickhouse/migrations/migration-files.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-migrations-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('the migrations of this build are numbered 32, 33, 34, …', async () => {
  const files = (await readdir(PACKAGE_MIGRATIONS)).sort()
  const migrations = await readMigrations(PACKAGE_MIGRATIONS)
  expect(migrations.map(({ number, name }) => ({ number, name }))).toEqual(
    files.map((name, i) => ({ number: 32 + i, name })),
  )
})

const REFUSED: readonly (readonly [added: string, message: string])[] = [
  [
    '0033_a.sql',
    'migration 0033_b.sql: 0033_a.sql has the same number; rename the newer file: the next number is 0035',
  ],
  [
    '0034_x.sql',
    'migration 0034_x.sql: 0034_c.sql has the same number; rename the newer file: the next number is 0035',
  ],
  ['0036_e.sql', 'migration 0036_e.sql: it follows 0034_c.sql: the next number is 0035'],
  ['0031_z.sql', 'migration 0031_z.sql: it follows no other file: the next number is 0032'],
  ...['35_d.sql', '0035-d.sql', '0035_D.sql', 'd.sql'].map(
    (name) =>
      [
        name,
        `migration ${name}: its name should be a number of four digits and words in lower case, such as 0035_words.sql`,
      ] as const,
  ),
]

test.each(REFUSED)('%s is refused beside 0032 to 0034', async (added, message) => {
  for (const name of ['0032_a.sql', '0033_b.sql', '0034_c.sql', added]) {
    await writeFile(path.join(folder, name), 'SELECT 1;\n')
  }
  const refused = readMigrations(folder)
  await expect(refused).rejects.toThrow(MigrationError)
  await expect(refused).rejects.toThrow(new Error(message))
})
