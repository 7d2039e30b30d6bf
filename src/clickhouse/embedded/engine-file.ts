/** The file engine.json, through which other processes find a running engine. */
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Endpoint } from '../endpoint.js'
import type { Holder } from './launcher/protocol.js'

interface EngineFile {
  readonly holder: Holder
  /** The process of the engine; a restart changes it. */
  readonly enginePid: number
  readonly endpoint: Endpoint
}

const getEngineFile = (engineDir: string): string => path.join(engineDir, 'engine.json')

/** Writes the file, passwords included; only processes of the same system user can read it. */
export async function writeEngineFile(engineDir: string, content: EngineFile): Promise<void> {
  const draft = `${getEngineFile(engineDir)}.new`
  await rm(draft, { force: true })
  await writeFile(draft, JSON.stringify(content, undefined, 2), { mode: 0o600, flag: 'wx' })
  await rename(draft, getEngineFile(engineDir))
}

/** Removes the file, so that other processes no longer find the engine. */
export async function removeEngineFile(engineDir: string): Promise<void> {
  await rm(getEngineFile(engineDir), { force: true })
}

/** Reads the file, which may be stale; undefined when there is none or it cannot be parsed. */
export async function readEngineFile(engineDir: string): Promise<EngineFile | undefined> {
  try {
    return JSON.parse(await readFile(getEngineFile(engineDir), 'utf8')) as EngineFile
  } catch {
    return undefined
  }
}
