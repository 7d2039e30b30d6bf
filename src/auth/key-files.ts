/** The files of the signing keys, under `<DATA_DIR>/keys/`. */
import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { isSystemError } from '../lib/errors.js'

const folderOf = (dataDir: string): string => path.join(dataDir, 'keys')

/** The private key, for those who issue API keys. */
export const privateKeyFile = (dataDir: string): string =>
  path.join(folderOf(dataDir), 'signing-key.json')

/** The public keys, all a service needs. */
export const publicKeysFile = (dataDir: string): string =>
  path.join(folderOf(dataDir), 'public-keys.json')

/** The text of a file; undefined when there is no such file. */
export async function readIfThere(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return undefined
    throw error
  })
}

/** Writes a file that is there as a whole or not at all; false when there is one of that name. */
export async function createFile(file: string, text: string, mode: number): Promise<boolean> {
  const draft = await writeDraft(file, text, mode)
  try {
    await link(draft, file)
    return true
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) return false
    throw error
  } finally {
    await rm(draft)
  }
}

/** Puts a file in the place of another, whose readers see the one or the other. */
export async function replaceFile(file: string, text: string, mode: number): Promise<void> {
  await rename(await writeDraft(file, text, mode), file)
}

async function writeDraft(file: string, text: string, mode: number): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true })
  const draft = `${file}.${randomUUID()}`
  const handle = await open(draft, 'wx', mode)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  return draft
}
