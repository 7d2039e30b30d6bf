/** Checks that a file named on the command line can be read. */
import { open } from 'node:fs/promises'
import { types } from 'node:util'
import { UserError } from '../../lib/errors.js'

/** Error codes of the operating system, in plain words. */
const FILE_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EISDIR: 'is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
}

/**
 * Checks that a file exists and can be read.
 *
 * @throws UserError that names the file and the reason
 */
export async function requireReadable(name: string): Promise<void> {
  try {
    const handle = await open(name)
    const isFolder = (await handle.stat()).isDirectory()
    await handle.close()
    if (isFolder) throw Object.assign(new Error('EISDIR'), { code: 'EISDIR' })
  } catch (error) {
    // `instanceof` would miss an error of another realm, such as a Jest test.
    const code = types.isNativeError(error) && 'code' in error ? String(error.code) : ''
    throw new UserError(`${name}: ${FILE_ERRORS[code] ?? `cannot be read (${code})`}`)
  }
}
