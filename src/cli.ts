#!/usr/bin/env node
/** The command `tallyhouse`. No other file reads the command line or the clock. */
import { Command, CommanderError } from 'commander'
import { isUnreachable } from './clickhouse/errors.js'
import { addAsk } from './commands/ask/ask.js'
import { addCluster } from './commands/cluster/cluster.js'
import { addDemo } from './commands/demo.js'
import { addExplain } from './commands/explain/explain.js'
import { addImport } from './commands/import/import.js'
import { addKey } from './commands/key.js'
import { addMigrate } from './commands/migrate.js'
import { addBackup } from './commands/operate/backup.js'
import { addDoctor } from './commands/operate/doctor.js'
import { addRestore } from './commands/operate/restore.js'
import { addProject } from './commands/project.js'
import { addRollups } from './commands/rollups.js'
import { addServe } from './commands/serve.js'
import type { AddCommand, CommandContext } from './commands/shared/context.js'
import { formatTable } from './commands/shared/output.js'
import { addUser } from './commands/user.js'
import { readConfig } from './config/config.js'
import { VARIABLES } from './config/variables.js'
import { readVersion } from './lib/version.js'

/** In the order of the help. */
const COMMANDS: readonly AddCommand[] = [
  addServe,
  addDemo,
  addImport,
  addMigrate,
  addBackup,
  addRestore,
  addProject,
  addKey,
  addUser,
  addAsk,
  addExplain,
  addRollups,
  addCluster,
  addDoctor,
]

const EXIT_FAILED = 1
const EXIT_USAGE = 2

const context: CommandContext = {
  config: () => readConfig(),
  now: () => new Date(),
  print: (text) => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${text}\n`),
}

function createProgram(): Command {
  const program = new Command('tallyhouse')
    .description('A web-analytics service: exact numbers over HTTP, counted by ClickHouse.')
    .version(readVersion(), '-V, --version', 'Print the version')
    .helpOption('-h, --help', 'Show help')
    .helpCommand('help [command]', 'Show the help of a command')
    // A command may have options of the same names as its subcommands.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, 'tallyhouse: ')),
    })
    .addHelpText('after', `\nEnvironment variables:\n${formatVariables()}`)
  for (const add of COMMANDS) add(program, context)
  return program
}

function formatVariables(): string {
  const rows = Object.entries(VARIABLES).map(([name, { description, fallback }]) => [
    `  ${name}`,
    fallback === null ? description : `${description} (default: ${fallback})`,
  ])
  return formatTable(rows)
}

/** Prints an error as one line and returns the exit code. Commander has printed its own errors already. */
function reportError(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE
  process.stderr.write(`tallyhouse: ${formatError(error)}\n`)
  return EXIT_FAILED
}

function formatError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // When a host name has several addresses and each refuses, Node's error has a code and an empty message.
  const message = error.message === '' && 'code' in error ? String(error.code) : error.message
  const line = message.replaceAll(/\s+/g, ' ').trim()
  return isUnreachable(error) ? `ClickHouse does not respond: ${line}` : line
}

try {
  await createProgram().parseAsync()
} catch (error) {
  process.exitCode = reportError(error)
}
