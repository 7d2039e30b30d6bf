/** Runs `tallyhouse serve` as a process, and watches it start. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { packagePath } from '../../../src/lib/package-path.js'

export interface ServeProcess {
  readonly child: ChildProcess
  /** The log so far. */
  readonly log: () => string
  readonly stderr: Promise<string>
  readonly exit: Promise<number | null>
  /** Resolves with its address when it answers probes; rejects if it ends before. */
  readonly probed: () => Promise<string>
  /** Resolves with its address when it answers all requests; rejects if it ends before. */
  readonly listening: () => Promise<string>
  /** Resolves when its log matches; rejects if it ends before. */
  readonly logged: (pattern: RegExp) => Promise<RegExpExecArray>
}

/**
 * Starts the built service with PATH and the given variables only, on a free port.
 *
 * @param intruder a module that is loaded before the service
 * @param folder of another build
 */
export function startServe(
  env: NodeJS.ProcessEnv,
  options: readonly string[] = [],
  intruder = '',
  folder = packagePath('.'),
): ServeProcess {
  const modules = ['--import', `data:text/javascript,${encodeURIComponent(intruder)}`]
  const args = [...modules, path.join(folder, 'dist/cli.js'), 'serve', ...options]
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH: process.env['PATH'], PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  child.stdout.on('data', (data: Buffer) => (log += data.toString()))
  const exit = once(child, 'exit').then(([code]) => code as number | null)
  const stderr = text(child.stderr)
  const logged = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const search = (): void => {
        const found = pattern.exec(log)
        if (found !== null) resolve(found)
      }
      child.stdout.on('data', search)
      search()
      void exit.then(async () => reject(new Error(`${log}\n${await stderr}`)))
    })
  return {
    child,
    log: () => log,
    stderr,
    exit,
    logged,
    probed: async () => (await logged(/"probes":"([^"]+)"/))[1]!,
    listening: async () => (await logged(/"address":"([^"]+)"/))[1]!,
  }
}
