/** Tells in plain words why a file cannot be read. */
import { open } from 'node:fs/promises'
import { types } from 'node:util'
import { UserError } from '../../lib/errors.js'

/** What the system says of a file, in plain words. */
const FILE_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'is a folder',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
}

/** @throws UserError for what is not a file that can be read. */
export async function requireReadable(name: string): Promise<void> {
  try {
    const handle = await open(name)
    const isFolder = (await handle.stat()).isDirectory()
    await handle.close()
    if (isFolder) throw Object.assign(new Error('EISDIR'), { code: 'EISDIR' })
  } catch (error) {
    // `instanceof` would miss an error of another realm.
    const code = types.isNativeError(error) && 'code' in error ? String(error.code) : ''
    throw new UserError(`${name}: ${FILE_ERRORS[code] ?? `cannot be read (${code})`}`)
  }
}
