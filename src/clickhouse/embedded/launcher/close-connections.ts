/** Ends idle connections to the engine, which would otherwise delay its stop by 5 seconds. */
import fs from 'node:fs'
import { libc } from './ffi.js'

/** TCP_ESTABLISHED, as /proc/net/tcp prints it. */
const ESTABLISHED = '01'

/**
 * Closes the reading side of every connection to a local port of this process. Idle connections end, and running
 * queries still return their results. Does nothing where there is no /proc.
 */
export function closeIdleConnections(port: number): void {
  const sockets = findSockets(port)
  for (const fd of listFolder('/proc/self/fd')) {
    if (sockets.has(readLink(`/proc/self/fd/${fd}`))) libc.shutdownRead(Number(fd))
  }
}

/** Finds the connections to a port, and returns their names in /proc/self/fd, such as `socket:[12345]`. */
function findSockets(port: number): ReadonlySet<string> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readText('/proc/self/net/tcp')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  return new Set(
    rows
      .filter(([, local, , state]) => state === ESTABLISHED && local?.endsWith(suffix))
      .map((columns) => `socket:[${columns[9] ?? ''}]`),
  )
}

const readText = (file: string): string => tryRead('', () => fs.readFileSync(file, 'utf8'))
const listFolder = (folder: string): string[] => tryRead([], () => fs.readdirSync(folder))
const readLink = (link: string): string => tryRead('', () => fs.readlinkSync(link))

/** Returns `fallback` when `read` throws, as it does for a descriptor that was closed meanwhile. */
function tryRead<T>(fallback: T, read: () => T): T {
  try {
    return read()
  } catch {
    return fallback
  }
}
