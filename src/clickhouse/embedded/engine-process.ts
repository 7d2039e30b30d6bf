/** Starts one launcher and knows it until it has ended. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { packagePath } from '../../lib/package-path.js'
import { EngineError } from './errors.js'
import { LOCKED, READY, START, type LaunchOptions } from './launcher/protocol.js'

export interface EngineProcess {
  readonly pid: number
  /** Resolves when the process is gone: with why, or with undefined after a clean stop. */
  readonly ended: Promise<EngineError | undefined>
}

export interface LaunchParts {
  /** The descriptor of the open lock file. */
  readonly lock: number
  /** Called once the folder is ours and before the engine reads its configuration. */
  readonly onLocked: (pid: number) => Promise<void>
  /** Ends the process, at whatever point it is. */
  readonly stop: AbortSignal
}

type Child = ChildProcessWithoutNullStreams

/** A clean stop takes about a second at most. Killing a hung engine loses nothing that was acknowledged. */
const KILL_MS = 3_000
const LAUNCHER = packagePath('dist/clickhouse/embedded/launcher/launcher.js')
const PREFIX = 'embedded: '

/** Starts the launcher and waits until the engine answers; rejects with an EngineError. */
export async function launch(options: LaunchOptions, parts: LaunchParts): Promise<EngineProcess> {
  if (!existsSync(LAUNCHER))
    throw new EngineError(`is not built (npm run build): ${LAUNCHER} is missing`)
  const child = spawn(process.execPath, [LAUNCHER, JSON.stringify(options)], {
    cwd: options.home,
    // Nothing of the service's environment, and nothing of the user's, reaches the engine.
    env: { HOME: options.home, TZ: 'UTC' },
    stdio: ['pipe', 'pipe', 'pipe', parts.lock],
    // A process group of its own: SYSTEM SHUTDOWN signals its whole group, and ^C means the parent.
    detached: true,
  }) as Child
  const ended = watch(child)
  stopOn(parts.stop, child)
  const early = ended.then((error) => {
    throw error ?? new EngineError('was stopped while it started')
  })
  try {
    await Promise.race([readyOf(child, parts.onLocked), early])
    return { pid: child.pid ?? 0, ended }
  } catch (error) {
    child.stdin.end()
    await ended
    throw error
  } finally {
    early.catch(() => undefined)
  }
}

/** Speaks the launcher's short protocol: it is locked, it may start, it is ready. */
function readyOf(child: Child, onLocked: LaunchParts['onLocked']): Promise<void> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === READY) resolve()
      if (line === LOCKED) {
        onLocked(child.pid ?? 0).then(() => child.stdin.write(`${START}\n`), reject)
      }
    })
  })
}

/** Resolves when the process is gone and its last words are read. */
function watch(child: Child): Promise<EngineError | undefined> {
  let words = ''
  child.stdin.on('error', () => undefined)
  child.stderr.setEncoding('utf8').on('data', (piece) => {
    words = (words + String(piece)).slice(-4096)
  })
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(new EngineError(`cannot be started: ${error.message}`)))
    child.on('close', (code, signal) => {
      if (code === 0) resolve(undefined)
      else resolve(new EngineError(`ended: ${reason(words, code, signal)}`, code))
    })
  })
}

/** The launcher's own words where it had any; the engine's chatter on stderr is left out. */
function reason(words: string, code: number | null, signal: string | null): string {
  const own = words.split('\n').filter((line) => line.startsWith(PREFIX))
  const last = own.at(-1)?.slice(PREFIX.length)
  return last ?? (signal === null ? `exit code ${code ?? 0}` : `signal ${signal}`)
}

/** The end of its input stops the launcher, cleanly. */
function stopOn(stop: AbortSignal, child: Child): void {
  let timer: NodeJS.Timeout | undefined
  const end = (): void => {
    child.stdin.end()
    timer = setTimeout(() => child.kill('SIGKILL'), KILL_MS)
  }
  child.on('close', () => {
    stop.removeEventListener('abort', end)
    clearTimeout(timer)
  })
  if (stop.aborted) end()
  else stop.addEventListener('abort', end, { once: true })
}
