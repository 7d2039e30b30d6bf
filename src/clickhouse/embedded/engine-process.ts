/** Starts one launcher process and follows it until it ends. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { packagePath } from '../../lib/package-path.js'
import { LOCKED, MESSAGE_PREFIX, READY, START, type LaunchOptions } from './launcher/protocol.js'

/** The engine's process could not start, or ended before it was ready, or ended without being asked to. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  readonly exitCode: number | null
  /** The signal that ended the process; null if none did. */
  readonly signal: string | null

  constructor(
    reason: string,
    { exitCode = null, signal = null }: { exitCode?: number | null; signal?: string | null } = {},
  ) {
    super(`the embedded ClickHouse ${reason}`)
    this.exitCode = exitCode
    this.signal = signal
  }
}

export interface EngineProcess {
  readonly pid: number
  /** Resolves when the process has ended: with the reason, or with undefined after a clean stop. */
  readonly ended: Promise<EngineError | undefined>
}

interface LaunchContext {
  /** The descriptor of the open lock file. */
  readonly lock: number
  /** Called once the folder is locked, before the engine reads its configuration. */
  readonly onLocked: (pid: number) => Promise<void>
  /** Aborted to end the process, which may still be starting. */
  readonly stop: AbortSignal
}

type Child = ChildProcessWithoutNullStreams

/** A clean stop takes about a second at most. Killing a hung engine loses no acknowledged insert. */
const KILL_TIMEOUT_MS = 3_000
const LAUNCHER = packagePath('dist/clickhouse/embedded/launcher/launcher.js')
/** How many characters of the end of stderr are kept. */
const MAX_STDERR = 4096

/**
 * Starts the launcher and waits until the engine is ready.
 *
 * @throws EngineError when the launcher is not built, or ends before the engine is ready
 */
export async function launch(
  options: LaunchOptions,
  { lock, onLocked, stop }: LaunchContext,
): Promise<EngineProcess> {
  if (!existsSync(LAUNCHER)) {
    throw new EngineError(`is not built (npm run build): ${LAUNCHER} is missing`)
  }
  const child = spawn(process.execPath, [LAUNCHER, JSON.stringify(options)], {
    cwd: options.engineDir,
    // The engine gets nothing from the environment of the service or the user.
    env: { HOME: options.engineDir, TZ: 'UTC' },
    stdio: ['pipe', 'pipe', 'pipe', lock],
    // A separate process group: SYSTEM SHUTDOWN signals its whole group, and ^C is meant for the parent.
    detached: true,
  }) as Child
  const ended = waitForEnd(child)
  stopOnAbort(child, stop)
  const early = ended.then((error) => {
    throw error ?? new EngineError('was stopped while it started')
  })
  try {
    await Promise.race([waitUntilReady(child, onLocked), early])
    return { pid: child.pid ?? 0, ended }
  } catch (error) {
    child.stdin.end()
    await ended
    throw error
  } finally {
    early.catch(() => undefined)
  }
}

/** Follows the launcher's protocol: it reports that it has the lock, receives START, and reports that it is ready. */
function waitUntilReady(child: Child, onLocked: LaunchContext['onLocked']): Promise<void> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === READY) resolve()
      if (line === LOCKED) {
        onLocked(child.pid ?? 0).then(() => child.stdin.write(`${START}\n`), reject)
      }
    })
  })
}

/** Resolves when the process has ended and its stderr is read. */
function waitForEnd(child: Child): Promise<EngineError | undefined> {
  let stderr = ''
  child.stdin.on('error', () => undefined)
  child.stderr.setEncoding('utf8').on('data', (piece) => {
    stderr = (stderr + String(piece)).slice(-MAX_STDERR)
  })
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(new EngineError(`cannot be started: ${error.message}`)))
    child.on('close', (code, signal) => {
      if (code === 0) resolve(undefined)
      else
        resolve(
          new EngineError(`ended: ${findReason(stderr, code, signal)}`, { exitCode: code, signal }),
        )
    })
  })
}

/** Returns the last message of the launcher, or how the process ended. Other output of the engine is ignored. */
function findReason(stderr: string, code: number | null, signal: string | null): string {
  const messages = stderr.split('\n').filter((line) => line.startsWith(MESSAGE_PREFIX))
  const last = messages.at(-1)?.slice(MESSAGE_PREFIX.length)
  return last ?? (signal === null ? `exit code ${code ?? 0}` : `signal ${signal}`)
}

/** Stops the launcher cleanly, by ending its input, when the signal is aborted; kills it if that takes too long. */
function stopOnAbort(child: Child, stop: AbortSignal): void {
  let timer: NodeJS.Timeout | undefined
  const end = (): void => {
    child.stdin.end()
    timer = setTimeout(() => child.kill('SIGKILL'), KILL_TIMEOUT_MS)
  }
  child.on('close', () => {
    stop.removeEventListener('abort', end)
    clearTimeout(timer)
  })
  if (stop.aborted) end()
  else stop.addEventListener('abort', end, { once: true })
}
