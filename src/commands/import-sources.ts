/** What the import reads: files, and standard input under the name `-`. */
import { constants, createReadStream } from 'node:fs'
import { access } from 'node:fs/promises'
import path from 'node:path'
import { isSystemError } from '../system-error.js'
import { UserError } from '../user-error.js'
import { requireReadable } from './readable.js'

export interface ImportSource {
  /** As it is called in messages. */
  readonly name: string
  /** Where its rejected rows go. */
  readonly rejectedFile: string
  /** Its bytes; to be read once. */
  readonly open: () => AsyncIterable<Buffer>
}

const STDIN = '-'

/**
 * The sources in the order given, all of which can be read.
 *
 * @throws UserError on the first that cannot.
 */
export async function findSources(names: readonly string[]): Promise<readonly ImportSource[]> {
  if (names.filter((name) => name === STDIN).length > 1) {
    throw new UserError('standard input (-) can be read once')
  }
  return Promise.all(names.map((name) => (name === STDIN ? stdin() : file(name))))
}

async function stdin(): Promise<ImportSource> {
  const rejectedFile = 'stdin.rejected.ndjson'
  await requireWritable(rejectedFile)
  return { name: 'standard input', rejectedFile, open: () => process.stdin }
}

async function file(name: string): Promise<ImportSource> {
  await requireReadable(name)
  const rejectedFile = `${name}.rejected.ndjson`
  await requireWritable(rejectedFile)
  return { name, rejectedFile, open: () => createReadStream(name) }
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
