/** The file of the signing key, under `<DATA_DIR>/keys/`. */
import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { isSystemError } from '../lib/errors.js'

/** Returns the file of the private key, which signs API keys. */
export const getPrivateKeyFile = (dataDir: string): string =>
  path.join(dataDir, 'keys', 'signing-key.json')

/** Returns the text of a file; undefined when it does not exist. */
export async function readFileIfExists(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return undefined
    throw error
  })
}

/** Creates a file atomically; returns false when it exists already. */
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

/** Replaces a file atomically: readers see either the old or the new contents. */
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
