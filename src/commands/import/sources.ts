/** Finds what an import reads: files, and standard input under the name `-`. */
import { constants, createReadStream } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import path from 'node:path'
import { glob, isDynamicPattern } from 'tinyglobby'
import { isSystemError, UserError } from '../../lib/errors.js'
import { requireReadable } from '../shared/require-readable.js'

export interface ImportSource {
  /** Its name in messages. */
  readonly name: string
  /** The file for its rejected rows. */
  readonly rejectedFile: string
  /** In bytes; undefined when it is known only after reading. */
  readonly size: number | undefined
  /** Opens the source for reading; may be called only once. */
  readonly open: () => AsyncIterable<Buffer>
}

const STDIN = '-'
const REJECTED_SUFFIX = '.rejected.ndjson'

/**
 * Finds the sources, in the given order; the matches of a pattern are sorted by name. A file named twice is read once.
 * Checks that all can be read and, unless `writesNothing`, that their files for rejected rows can be written.
 *
 * @throws UserError for the first source that fails a check, and for a pattern without matches
 */
export async function findSources(
  names: readonly string[],
  { writesNothing }: { readonly writesNothing: boolean },
): Promise<readonly ImportSource[]> {
  if (names.filter((name) => name === STDIN).length > 1) {
    throw new UserError('standard input (-) can only be read once')
  }
  const found = new Map<string, string>()
  for (const name of names) {
    for (const file of name === STDIN ? [STDIN] : await expandPattern(name)) {
      const key = file === STDIN ? STDIN : path.resolve(file)
      if (!found.has(key)) found.set(key, file)
    }
  }
  const sources = await Promise.all(
    [...found.values()].map(async (name) => (name === STDIN ? stdin : checkFile(name))),
  )
  if (!writesNothing) {
    for (const { rejectedFile } of sources) await requireWritable(rejectedFile)
  }
  return sources
}

/** Returns the name itself if such a file exists, else its matches without the rejected rows of earlier imports. */
async function expandPattern(name: string): Promise<readonly string[]> {
  if (!isDynamicPattern(name) || (await canAccess(name))) return [name]
  const files = await glob(name, { expandDirectories: false, ignore: [`**/*${REJECTED_SUFFIX}`] })
  if (files.length === 0) throw new UserError(`${name}: no file matches`)
  return files.sort()
}

const stdin: ImportSource = {
  name: 'standard input',
  rejectedFile: `stdin${REJECTED_SUFFIX}`,
  size: undefined,
  open: () => process.stdin,
}

async function checkFile(name: string): Promise<ImportSource> {
  await requireReadable(name)
  const status = await stat(name)
  // A named pipe reports a size of 0.
  const size = status.isFile() ? status.size : undefined
  if (size === 0) throw new UserError(`${name}: is empty`)
  return {
    name,
    rejectedFile: `${name}${REJECTED_SUFFIX}`,
    size,
    open: () => createReadStream(name),
  }
}

/** Checks, before anything is loaded, that no rejected rows will be lost. */
async function requireWritable(rejectedFile: string): Promise<void> {
  try {
    await access(rejectedFile, constants.W_OK)
  } catch (error) {
    const isNew = isSystemError(error, 'ENOENT')
    if (isNew && (await canAccess(path.dirname(rejectedFile), constants.W_OK))) return
    throw new UserError(
      `${rejectedFile}: this file for rejected rows cannot be written; ` +
        'import from standard input (-) in a writable folder',
    )
  }
}

const canAccess = (file: string, mode = constants.F_OK): Promise<boolean> =>
  access(file, mode).then(
    () => true,
    () => false,
  )
