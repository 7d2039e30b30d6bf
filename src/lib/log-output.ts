/** Writes the lines of the log to a stream whose reader may be slow, hang or be gone. */
import type { Writable } from 'node:stream'

export interface LogOutput {
  /** Writes a line. Never waits: a line that finds the buffer full is dropped. */
  write(line: string): void
  /** Waits until all lines are written; returns false when the reader did not take them within `timeoutMs`. */
  flush(timeoutMs: number): Promise<boolean>
  /** Returns how many lines were dropped so far. */
  readonly countDropped: () => number
}

/** Characters that may wait for the reader. */
const MAX_BUFFERED = 4 * 1024 * 1024

/**
 * Opens the output of a log. For a pipe or a socket, such as the standard output of a container, Node.js writes a line at
 * once when the reader keeps up, and keeps it in memory when it does not; the process never blocks. A line that the
 * reader could take is written before `write` returns, so a crash does not lose it.
 *
 * Not pino's own destination: it waits for the reader when the process exits, for ever if the reader hangs.
 *
 * @param maxBuffered the most characters that wait for the reader
 */
export function openLogOutput(stream: Writable, maxBuffered = MAX_BUFFERED): LogOutput {
  let isBroken = false
  let dropped = 0
  // Without a listener, the error of a reader that is gone would end the process.
  stream.on('error', () => (isBroken = true))
  return {
    write(line) {
      if (isBroken || stream.writableLength + line.length > maxBuffered) dropped += 1
      else stream.write(line)
    },
    countDropped: () => dropped,
    flush: (timeoutMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => resolve(false), timeoutMs)
        const finish = (isWritten: boolean): void => {
          clearTimeout(timer)
          resolve(isWritten)
        }
        if (isBroken || stream.writableLength === 0) finish(!isBroken)
        else stream.write('', (error) => finish(error === null || error === undefined))
      }),
  }
}
