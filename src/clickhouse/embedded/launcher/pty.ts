/** Gives the engine a pseudo-terminal as stdin and stdout, so that it runs as in an interactive shell. */
import fs from 'node:fs'
import tty from 'node:tty'
import { libc } from './ffi.js'

interface Pty {
  /** The pipes to the parent process, which were stdin and stdout of this one. */
  readonly parent: { readonly stdin: number; readonly stdout: number }
  /** Calls the listener whenever the engine prints, with the last 4096 characters of its output so far. */
  onOutput(listener: (text: string) => void): void
  /** Sends ^D, which ends the engine. */
  endInput(): void
}

/** How many characters of the end of the output are kept. */
const MAX_OUTPUT = 4096

/**
 * Replaces stdin and stdout (fd 0 and 1) of this process with a pseudo-terminal.
 *
 * @throws Error when the system has no pseudo-terminals
 */
export function openPty(): Pty {
  const parent = { stdin: libc.dup(0), stdout: libc.dup(1) }
  const flags = fs.constants.O_RDWR | fs.constants.O_NOCTTY
  const master = libc.posixOpenpt(flags)
  if (master < 0 || libc.grantpt(master) !== 0 || libc.unlockpt(master) !== 0) {
    throw new Error('cannot open a pseudo-terminal (is /dev/pts mounted?)')
  }
  const slave = fs.openSync(libc.ptsname(master), flags)
  libc.dup2(slave, 0)
  libc.dup2(slave, 1)
  fs.closeSync(slave)

  return {
    parent,
    onOutput(listener) {
      let output = ''
      const stream = new tty.ReadStream(master)
      stream.setEncoding('utf8')
      stream.on('error', () => undefined)
      stream.on('data', (piece) => {
        output = (output + String(piece)).slice(-MAX_OUTPUT)
        listener(output)
      })
    },
    endInput() {
      try {
        fs.writeSync(master, '\x04')
      } catch {
        // The engine has ended already.
      }
    },
  }
}
