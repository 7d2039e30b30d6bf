/** Finds and runs Python for the tests of its client. */
import { describe } from '@jest/globals'
import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { packagePath } from '../../../src/lib/package-path.js'

const run = promisify(execFile)

/** The folder of the client. */
export const HOME = packagePath('clients/python')

/** Returns the first Python that has some packages, of the one in the variable PYTHON and the usual ones. */
export const findPython = (...packages: readonly string[]): string | undefined =>
  [process.env['PYTHON'], 'python3', '/usr/bin/python3']
    .filter((command) => command !== undefined)
    .find((command) => spawnSync(command, ['-c', `import ${packages.join(', ')}`]).status === 0)

export type RunPython = (
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
) => Promise<string>

/** Describes tests that need Python with some packages. Without them they are skipped, and their name says so. */
export function describeWithPython(
  name: string,
  packages: readonly string[],
  tests: (runPython: RunPython, python: string) => void,
): void {
  const python = findPython(...packages)
  const title = `${name} (needs Python with ${packages.join(', ')}: set PYTHON)`
  if (python === undefined) describe.skip(title, () => tests(() => Promise.resolve(''), ''))
  else describe(name, () => tests((args, env) => runIn(python, args, env), python))
}

/** Runs a command in the folder of the client. @throws Error with what it printed */
export async function runIn(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const all = { ...process.env, NODE_OPTIONS: '', PYTHONDONTWRITEBYTECODE: '1', ...env }
  try {
    return (await run(command, args, { cwd: HOME, env: all })).stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${stdout}\n${stderr}`, { cause: error })
  }
}
