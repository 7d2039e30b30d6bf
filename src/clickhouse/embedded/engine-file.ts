/** The file engine.json: how a second process finds the engine that a first one runs. */
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Endpoint } from '../endpoint.js'
import type { Holder } from './launcher/protocol.js'

export interface EngineFile {
  readonly holder: Holder
  /** The engine's own process; another one after each restart. */
  readonly enginePid: number
  readonly endpoint: Endpoint
}

const fileIn = (home: string): string => path.join(home, 'engine.json')

/** Tells other processes of this user of the system about the engine, passwords included. */
export async function writeEngineFile(home: string, announcement: EngineFile): Promise<void> {
  const draft = `${fileIn(home)}.new`
  await rm(draft, { force: true })
  await writeFile(draft, JSON.stringify(announcement, undefined, 2), { mode: 0o600, flag: 'wx' })
  await rename(draft, fileIn(home))
}

export async function removeEngineFile(home: string): Promise<void> {
  await rm(fileIn(home), { force: true })
}

/** What is announced in a folder, true or stale; undefined when nothing legible is. */
export async function readEngineFile(home: string): Promise<EngineFile | undefined> {
  try {
    return JSON.parse(await readFile(fileIn(home), 'utf8')) as EngineFile
  } catch {
    return undefined
  }
}
