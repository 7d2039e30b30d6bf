/** Runs a command of `tallyhouse` in the process of the test, over a database of its own. */
import { Command } from 'commander'
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'
import type { AddCommand } from '../../../src/commands/shared/context.js'
import { readConfig } from '../../../src/config/config.js'

export interface Told {
  readonly stdout: string
  readonly stderr: string
  /** What it failed with; undefined where it did not. */
  readonly error: string | undefined
}

/** The variable that has a command use the database. */
export function urlOf({ url, database, accounts }: Endpoint): string {
  const { username, password } = accounts.admin
  return Object.assign(new URL(database, url), { username, password }).href
}

/** Runs the command with these arguments, at a moment. */
export async function runCommand(
  add: AddCommand,
  args: readonly string[],
  { endpoint, now, env = {} }: { endpoint: Endpoint; now: Date; env?: NodeJS.ProcessEnv },
): Promise<Told> {
  const [stdout, stderr]: [string[], string[]] = [[], []]
  const program = new Command('tallyhouse').exitOverride()
  add(program, {
    config: () => readConfig({ CLICKHOUSE_URL: urlOf(endpoint), ...env }),
    now: () => now,
    print: (text) => stdout.push(`${text}\n`),
    note: (text) => stderr.push(`${text}\n`),
  })
  const error = await program.parseAsync(args, { from: 'user' }).then(
    () => undefined,
    (thrown: unknown) => (thrown as Error).message,
  )
  return { stdout: stdout.join(''), stderr: stderr.join(''), error }
}
