/** How much of the machine the embedded engine may use. */
import os from 'node:os'

export interface Limits {
  /** Bytes of memory of the whole engine. */
  readonly serverMemory: number
  /** Bytes of memory of one query of the reader. */
  readonly queryMemory: number
}

const GIB = 1024 ** 3

/** Half of the memory, but 1 GiB at least; a quarter of that for one query of the reader. */
export function limitsFor(memory: number): Limits {
  const serverMemory = Math.max(GIB, Math.floor(memory / 2))
  return { serverMemory, queryMemory: Math.floor(serverMemory / 4) }
}

/** The memory of this machine, or of this container where that has less. */
export function availableMemory(): number {
  const constrained = process.constrainedMemory()
  return constrained > 0 ? Math.min(constrained, os.totalmem()) : os.totalmem()
}
