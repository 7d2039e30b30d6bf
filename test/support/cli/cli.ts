/** Runs `tallyhouse` as a process, as a user does. */
import { execFile } from 'node:child_process'
import { packagePath } from '../../../src/lib/package-path.js'

export interface CliResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the built command with PATH and the given variables only. */
export function runCli(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  input = '',
): Promise<CliResult> {
  const options = { env: { PATH: process.env['PATH'], ...env } }
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [packagePath('dist/cli.js'), ...args],
      options,
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
      },
    )
    child.stdin?.on('error', () => undefined).end(input)
  })
}
