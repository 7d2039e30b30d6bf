/** Reads the migrations: numbered files of SQL, each applied once. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { packagePath } from '../../lib/package-path.js'

export interface Migration {
  readonly number: number
  /** The name of the file, e.g. `0032_initial.sql`. */
  readonly name: string
  /** The SHA-256 of the file, in hex. */
  readonly checksum: string
  /** Each can be repeated: after a failure, the migration runs again from its first statement. */
  readonly statements: readonly string[]
}

/** A migration is missing, changed or wrongly numbered, or it failed. A failed one is not recorded as applied. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
  /** The name of the file, e.g. `0032_initial.sql`. */
  readonly file: string

  constructor(file: string, reason: string, options?: ErrorOptions) {
    super(`migration ${file}: ${reason}`, options)
    this.file = file
  }
}

/** The folder of this build's migrations. */
export const PACKAGE_MIGRATIONS = packagePath('clickhouse/migrations')

const FILE_NAME = /^(?<number>\d{4})_[a-z0-9_]+\.sql$/

/** The number of the first file, which creates the tables as the 32 migrations of version 0.1.0 left them. */
export const FIRST_NUMBER = 32

/** Reads the number in the name of a file; undefined if the name has another form. */
function readNumber(name: string): number | undefined {
  const text = FILE_NAME.exec(name)?.groups?.['number']
  return text === undefined ? undefined : Number(text)
}

const formatNumber = (number: number): string => String(number).padStart(4, '0')

/**
 * Reads the migrations of a folder, in order.
 *
 * @throws MigrationError when they are not numbered 32, 33, 34, …
 */
export async function readMigrations(folder: string): Promise<readonly Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  checkNames(names)
  return Promise.all(names.map((name, i) => readMigration(folder, name, FIRST_NUMBER + i)))
}

/** @throws MigrationError for the first file whose number is taken, leaves a gap or cannot be read */
function checkNames(names: readonly string[]): void {
  const highest = Math.max(FIRST_NUMBER - 1, ...names.map((name) => readNumber(name) ?? 0))
  for (const [i, name] of names.entries()) {
    const [number, before, expected] = [readNumber(name), names[i - 1], FIRST_NUMBER + i]
    if (number === expected) continue
    if (number === undefined) {
      throw new MigrationError(
        name,
        `its name should be a number of four digits and words in lower case, such as ${formatNumber(highest + 1)}_words.sql`,
      )
    }
    throw new MigrationError(
      name,
      number === expected - 1 && before !== undefined
        ? `${before} has the same number; rename the newer file: the next number is ${formatNumber(highest + 1)}`
        : `it follows ${before ?? 'no other file'}: the next number is ${formatNumber(expected)}`,
    )
  }
}

async function readMigration(folder: string, name: string, number: number): Promise<Migration> {
  const text = await readFile(path.join(folder, name), 'utf8')
  return {
    number,
    name,
    checksum: createHash('sha256').update(text).digest('hex'),
    statements: splitStatements(text),
  }
}

/** Splits at each semicolon that ends a line. */
function splitStatements(text: string): readonly string[] {
  return text
    .split(/;[ \t]*(?:\r?\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement.replaceAll(/^\s*--.*$/gm, '').trim() !== '')
}
