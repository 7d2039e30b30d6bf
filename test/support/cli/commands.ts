/** Runs a command of `tallyhouse` in the process of the test. */
import { Command } from 'commander'
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'
import type { AddCommand } from '../../../src/commands/shared/context.js'
import { readConfig } from '../../../src/config/config.js'

export interface CommandResult {
  readonly stdout: string
  readonly stderr: string
  /** The message of its error; undefined when it succeeds. */
  readonly error: string | undefined
}

/** The value of CLICKHOUSE_URL for a database, with the admin's account. */
export function formatServerUrl({ url, database, accounts }: Endpoint): string {
  const { username, password } = accounts.admin
  return Object.assign(new URL(database, url), { username, password }).href
}

/** Runs a command with `now` as the time, over the database of `endpoint`, or over the stores that `env` names. */
export async function runCommand(
  add: AddCommand,
  args: readonly string[],
  { endpoint, now, env = {} }: { endpoint?: Endpoint; now: Date; env?: NodeJS.ProcessEnv },
): Promise<CommandResult> {
  const [stdout, stderr]: [string[], string[]] = [[], []]
  const program = new Command('tallyhouse').exitOverride()
  add(program, {
    config: () =>
      readConfig({
        ...(endpoint === undefined ? {} : { CLICKHOUSE_URL: formatServerUrl(endpoint) }),
        ...env,
      }),
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
