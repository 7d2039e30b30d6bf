/** The C functions the launcher calls: a few of libc, and the two of libchdb. */
import { createRequire } from 'node:module'
import path from 'node:path'
import { DataType, isNullPointer, load, open, restorePointer, wrapPointer } from 'ffi-rs'

const LIBC = process.platform === 'darwin' ? '/usr/lib/libSystem.B.dylib' : 'libc.so.6'
open({ library: 'c', path: LIBC })

const { I32, External, StringArray } = DataType

/** Calls a function of libc whose arguments and result are ints. */
function int(name: string, ...values: readonly number[]): number {
  return load({
    library: 'c',
    funcName: name,
    retType: I32,
    paramsType: values.map(() => I32),
    paramsValue: [...values],
  })
}

export const libc = {
  dup: (fd: number): number => int('dup', fd),
  dup2: (from: number, to: number): number => int('dup2', from, to),
  posixOpenpt: (flags: number): number => int('posix_openpt', flags),
  grantpt: (master: number): number => int('grantpt', master),
  unlockpt: (master: number): number => int('unlockpt', master),
  /** The path of the other side of a pseudo-terminal. */
  ptsname: (master: number): string =>
    load({
      library: 'c',
      funcName: 'ptsname',
      retType: DataType.String,
      paramsType: [I32],
      paramsValue: [master],
    }),
  /** Tries to take the lock of an open file for this process and those that share the file. */
  tryFlock(fd: number): boolean {
    const LOCK_EX = 2
    const LOCK_NB = 4
    return int('flock', fd, LOCK_EX | LOCK_NB) === 0
  },
  shutdownRead(fd: number): number {
    const SHUT_RD = 0
    return int('shutdown', fd, SHUT_RD)
  },
}

/**
 * Ends the process at once. `process.exit()` would join libuv's thread pool, where the engine runs,
 * and wait for ever.
 */
export function exitNow(code: number): never {
  int('_exit', code)
  throw new Error('unreachable')
}

/** Loads libchdb; throws if there is none for this platform. */
export function openEngine(): void {
  const libc = process.platform === 'linux' ? '-gnu' : ''
  const name = `@chdb/lib-${process.platform}-${process.arch}${libc}`
  let folder: string
  try {
    folder = path.dirname(createRequire(import.meta.url).resolve(name))
  } catch {
    throw new Error(`the package ${name} is not installed, so there is no embedded engine here`)
  }
  open({ library: 'chdb', path: path.join(folder, 'libchdb.so') })
}

/** Runs `clickhouse local` on a thread of the pool until it ends; the message of its error, if any. */
export async function runEngine(args: readonly string[]): Promise<string | undefined> {
  const result = await load({
    library: 'chdb',
    funcName: 'chdb_query_cmdline',
    retType: External,
    paramsType: [I32, StringArray],
    paramsValue: [args.length, args],
    runInNewThread: true,
  })
  const message = load({
    library: 'chdb',
    funcName: 'chdb_result_error',
    retType: External,
    paramsType: [External],
    paramsValue: [result],
  })
  // A null pointer declared as a string ends the process with a segmentation fault.
  if (isNullPointer(message)) return undefined
  return restorePointer<DataType.String>({
    retType: [DataType.String],
    paramsValue: wrapPointer([message]),
  })[0]
}
