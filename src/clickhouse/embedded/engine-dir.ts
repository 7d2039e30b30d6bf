/** The engine's folder, and the lock that gives it to one process at a time. */
import { constants, readFileSync } from 'node:fs'
import { mkdir, open, readFile, type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import type { Holder } from './launcher/protocol.js'

const LOCK = 'lock'

/** The engine's folder in a data folder. */
export const engineDirOf = (dataDir: string): string =>
  path.join(path.resolve(dataDir), 'clickhouse')

/**
 * Opens the lock file. The lock itself is taken by the launcher, which inherits this open file: it is
 * then held until both have let go, so neither a restart of the engine nor the death of its parent
 * gives the folder away while the other is there.
 */
export async function openLock(home: string): Promise<FileHandle> {
  await mkdir(home, { recursive: true, mode: 0o700 })
  return open(path.join(home, LOCK), constants.O_RDWR | constants.O_CREAT, 0o600)
}

/** Who holds the folder, as far as the lock file tells; true only while the lock is held. */
export async function readHolder(home: string): Promise<Holder | undefined> {
  const text = await readFile(path.join(home, LOCK), 'utf8').catch(() => '')
  try {
    return JSON.parse(text) as Holder
  } catch {
    return undefined
  }
}

/** Whether a process of that id, of any user, runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return !isZombie(pid)
}

/** A dead process that nobody has asked for yet still has its id. */
function isZombie(pid: number): boolean {
  try {
    return /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
