/** The C functions that the launcher calls: a few of libc, and two of libchdb. */
import { DataType, isNullPointer, load, open, restorePointer, wrapPointer } from 'ffi-rs'

const LIBC = process.platform === 'darwin' ? '/usr/lib/libSystem.B.dylib' : 'libc.so.6'
open({ library: 'c', path: LIBC })

const { I32, External, StringArray } = DataType

/** Calls a function of libc whose arguments and result are ints. */
function callInt(name: string, ...values: readonly number[]): number {
  return load({
    library: 'c',
    funcName: name,
    retType: I32,
    paramsType: values.map(() => I32),
    paramsValue: [...values],
  })
}

export const libc = {
  dup: (fd: number): number => callInt('dup', fd),
  dup2: (from: number, to: number): number => callInt('dup2', from, to),
  posixOpenpt: (flags: number): number => callInt('posix_openpt', flags),
  grantpt: (master: number): number => callInt('grantpt', master),
  unlockpt: (master: number): number => callInt('unlockpt', master),
  /** Returns the path of the other end of a pseudo-terminal. */
  ptsname: (master: number): string =>
    load({
      library: 'c',
      funcName: 'ptsname',
      retType: DataType.String,
      paramsType: [I32],
      paramsValue: [master],
    }),
  /** Tries to lock an open file (flock). Processes that inherited the open file share the lock. */
  tryFlock(fd: number): boolean {
    const LOCK_EX = 2
    const LOCK_NB = 4
    return callInt('flock', fd, LOCK_EX | LOCK_NB) === 0
  },
  shutdownRead(fd: number): number {
    const SHUT_RD = 0
    return callInt('shutdown', fd, SHUT_RD)
  },
}

/**
 * Ends the process at once. `process.exit()` would join libuv's thread pool, where the engine runs, and wait
 * forever.
 */
export function exitNow(code: number): never {
  callInt('_exit', code)
  throw new Error('unreachable')
}

/** Loads libchdb from its file. */
export function loadEngine(library: string): void {
  open({ library: 'chdb', path: library })
}

/** Runs `clickhouse local` on a thread of libuv's pool until it ends. Resolves with its error message, if any. */
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
  // Without an error the result is NULL. If it were declared as a string, ffi-rs would crash on NULL.
  if (isNullPointer(message)) return undefined
  return restorePointer<DataType.String>({
    retType: [DataType.String],
    paramsValue: wrapPointer([message]),
  })[0]
}
