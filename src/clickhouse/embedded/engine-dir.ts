/** The engine's folder, and the lock that reserves it for one process at a time. */
import { constants, readFileSync } from 'node:fs'
import { mkdir, open, readFile, type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import type { Holder } from './launcher/protocol.js'

const LOCK = 'lock'

/** Returns the engine's folder in a data folder. */
export const getEngineDir = (dataDir: string): string =>
  path.join(path.resolve(dataDir), 'clickhouse')

/**
 * Opens the lock file. The launcher inherits the open file and locks it. Parent and launcher then both hold the
 * lock: neither a restart of the engine nor the death of the parent frees the folder while the other runs.
 */
export async function openLock(engineDir: string): Promise<FileHandle> {
  await mkdir(engineDir, { recursive: true, mode: 0o700 })
  return open(path.join(engineDir, LOCK), constants.O_RDWR | constants.O_CREAT, 0o600)
}

/** Reads from the lock file which process holds the folder. Valid only while the lock is held. */
export async function readHolder(engineDir: string): Promise<Holder | undefined> {
  const text = await readFile(path.join(engineDir, LOCK), 'utf8').catch(() => '')
  try {
    return JSON.parse(text) as Holder
  } catch {
    return undefined
  }
}

/** Returns whether a process with this id is running, under any user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return !isZombie(pid)
}

/** Returns whether a process has ended but keeps its id, because its parent has not waited for it yet. */
function isZombie(pid: number): boolean {
  try {
    return /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
