/** Gives the engine a pseudo-terminal as its stdin and stdout, so that it runs as for a person. */
import fs from 'node:fs'
import tty from 'node:tty'
import { libc } from './ffi.js'

export interface Pty {
  /** The parent's pipes, which were this process's stdin and stdout. */
  readonly parent: { readonly stdin: number; readonly stdout: number }
  /** Hears everything the engine has printed so far, after each piece of it. */
  onText(listener: (text: string) => void): void
  /** Presses ^D: the engine ends. */
  endInput(): void
}

/** How much of the engine's talk is kept: the last screen. */
const KEPT = 4096

/** Replaces fd 0 and 1 of this process by a pseudo-terminal. */
export function openPty(): Pty {
  const parent = { stdin: libc.dup(0), stdout: libc.dup(1) }
  const flags = fs.constants.O_RDWR | fs.constants.O_NOCTTY
  const master = libc.posixOpenpt(flags)
  if (master < 0 || libc.grantpt(master) !== 0 || libc.unlockpt(master) !== 0) {
    throw new Error('no pseudo-terminal can be opened (is /dev/pts mounted?)')
  }
  const slave = fs.openSync(libc.ptsname(master), flags)
  libc.dup2(slave, 0)
  libc.dup2(slave, 1)
  fs.closeSync(slave)

  return {
    parent,
    onText(listener) {
      let text = ''
      const screen = new tty.ReadStream(master)
      screen.setEncoding('utf8')
      screen.on('error', () => undefined)
      screen.on('data', (piece) => {
        text = (text + String(piece)).slice(-KEPT)
        listener(text)
      })
    },
    endInput() {
      try {
        fs.writeSync(master, '\x04')
      } catch {
        // The engine has left already.
      }
    },
  }
}
