/** How much memory of the machine the embedded engine may use. */
import os from 'node:os'

export interface Limits {
  /** Memory of the whole engine, in bytes. */
  readonly serverMemory: number
  /** Memory of one query of the reader, in bytes. */
  readonly queryMemory: number
}

const GIB = 1024 ** 3

/**
 * The engine gets half of the memory, at least 1 GiB; one query of the reader gets a quarter of that.
 *
 * @param memory in bytes
 */
export function computeLimits(memory: number): Limits {
  const serverMemory = Math.max(GIB, Math.floor(memory / 2))
  return { serverMemory, queryMemory: Math.floor(serverMemory / 4) }
}

/** Returns the memory of this machine in bytes, or of this container where that is less. */
export function readAvailableMemory(): number {
  const constrained = process.constrainedMemory()
  return constrained > 0 ? Math.min(constrained, os.totalmem()) : os.totalmem()
}
