/** Ends idle connections of the engine, which would otherwise hold up its stop for 5 seconds. */
import fs from 'node:fs'
import { libc } from './ffi.js'

const ESTABLISHED = '01'

/**
 * Closes the reading side of every connection to a local port of this process: an idle one ends, and
 * a query that is running still gives its answer. Does nothing where there is no /proc.
 */
export function closeIdleConnections(port: number): void {
  const sockets = socketsOf(port)
  for (const fd of entries('/proc/self/fd')) {
    if (sockets.has(target(`/proc/self/fd/${fd}`))) libc.shutdownRead(Number(fd))
  }
}

/** The connections to a port, as /proc/self/fd names them. */
function socketsOf(port: number): ReadonlySet<string> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = text('/proc/self/net/tcp')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  return new Set(
    rows
      .filter(([, local, , state]) => state === ESTABLISHED && local?.endsWith(suffix))
      .map((columns) => `socket:[${columns[9] ?? ''}]`),
  )
}

const text = (file: string): string => orElse('', () => fs.readFileSync(file, 'utf8'))
const entries = (folder: string): string[] => orElse([], () => fs.readdirSync(folder))
const target = (link: string): string => orElse('', () => fs.readlinkSync(link))

/** What `read` returns; `otherwise` when it fails, as it does for a descriptor closed meanwhile. */
function orElse<T>(otherwise: T, read: () => T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}
