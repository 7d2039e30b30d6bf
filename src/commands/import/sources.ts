/** What the import reads: files, and standard input under the name `-`. */
import { constants, createReadStream } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import path from 'node:path'
import { glob, isDynamicPattern } from 'tinyglobby'
import { isSystemError, UserError } from '../../lib/errors.js'
import { requireReadable } from '../shared/readable.js'

export interface ImportSource {
  /** As it is called in messages. */
  readonly name: string
  /** Where its rejected rows go. */
  readonly rejectedFile: string
  /** Bytes; undefined where they are not known before they are read. */
  readonly size: number | undefined
  /** Its bytes; to be read once. */
  readonly open: () => AsyncIterable<Buffer>
}

const STDIN = '-'
const REJECTED = '.rejected.ndjson'

/**
 * The sources in the order given, those of a pattern in that of their names. Each file is read once. All can
 * be read, and unless `writesNothing` their rejected rows can be written.
 *
 * @throws UserError on the first that cannot, and for a pattern that no file matches.
 */
export async function findSources(
  names: readonly string[],
  { writesNothing }: { readonly writesNothing: boolean },
): Promise<readonly ImportSource[]> {
  if (names.filter((name) => name === STDIN).length > 1) {
    throw new UserError('standard input (-) can be read once')
  }
  const found = new Map<string, string>()
  for (const name of names) {
    for (const file of name === STDIN ? [STDIN] : await filesOf(name)) {
      const key = file === STDIN ? STDIN : path.resolve(file)
      if (!found.has(key)) found.set(key, file)
    }
  }
  const sources = await Promise.all(
    [...found.values()].map(async (name) => (name === STDIN ? stdin : openable(name))),
  )
  if (!writesNothing) {
    for (const { rejectedFile } of sources) await requireWritable(rejectedFile)
  }
  return sources
}

/** A file that is there is meant, whatever its name; what earlier imports rejected matches no pattern. */
async function filesOf(name: string): Promise<readonly string[]> {
  if (!isDynamicPattern(name) || (await isThere(name))) return [name]
  const files = await glob(name, { expandDirectories: false, ignore: [`**/*${REJECTED}`] })
  if (files.length === 0) throw new UserError(`${name}: no file matches`)
  return files.sort()
}

const isThere = (name: string): Promise<boolean> =>
  access(name).then(
    () => true,
    () => false,
  )

const stdin: ImportSource = {
  name: 'standard input',
  rejectedFile: `stdin${REJECTED}`,
  size: undefined,
  open: () => process.stdin,
}

async function openable(name: string): Promise<ImportSource> {
  await requireReadable(name)
  const status = await stat(name)
  // A pipe under a name says 0.
  const size = status.isFile() ? status.size : undefined
  if (size === 0) throw new UserError(`${name}: is empty`)
  return { name, rejectedFile: `${name}${REJECTED}`, size, open: () => createReadStream(name) }
}

/** Rows that are rejected must not get lost, so their place is looked at before anything is loaded. */
async function requireWritable(rejectedFile: string): Promise<void> {
  try {
    await access(rejectedFile, constants.W_OK)
  } catch (error) {
    const isNew = isSystemError(error, 'ENOENT')
    const canBeMade = isNew && (await isWritable(path.dirname(rejectedFile)))
    if (canBeMade) return
    throw new UserError(
      `${rejectedFile}: rejected rows would go there, and it cannot be written; ` +
        'import from standard input (-) in a folder that can be written',
    )
  }
}

const isWritable = (folder: string): Promise<boolean> =>
  access(folder, constants.W_OK).then(
    () => true,
    () => false,
  )
