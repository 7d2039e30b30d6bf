#!/usr/bin/env node
/** The command `tallyhouse`: the one place that reads the clock and the environment's arguments. */
import { Command, CommanderError } from 'commander'
import { readFileSync } from 'node:fs'
import type { AddCommand, CommandContext } from './commands/shared/context.js'
import { addDemo } from './commands/demo.js'
import { addExplain } from './commands/explain.js'
import { addImport } from './commands/import/import.js'
import { addKey } from './commands/key.js'
import { addMigrate } from './commands/migrate.js'
import { table } from './commands/shared/output.js'
import { addProject } from './commands/project.js'
import { addRollups } from './commands/rollups.js'
import { addServe } from './commands/serve.js'
import { addUser } from './commands/user.js'
import { isUnreachable } from './clickhouse/errors.js'
import { readConfig } from './config/config.js'
import { packagePath } from './lib/package-path.js'
import { VARIABLES } from './config/variables.js'

/** In the order of the help. */
const COMMANDS: readonly AddCommand[] = [
  addServe,
  addDemo,
  addImport,
  addMigrate,
  addProject,
  addKey,
  addUser,
  addExplain,
  addRollups,
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
  const { version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as {
    version: string
  }
  const program = new Command('tallyhouse')
    .description('A web-analytics service: exact answers about traffic over HTTP.')
    .version(version)
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, 'tallyhouse: ')),
    })
    .addHelpText('after', `\nEnvironment:\n${environmentHelp()}`)
  for (const add of COMMANDS) add(program, context)
  return program
}

function environmentHelp(): string {
  const lines = Object.entries(VARIABLES).map(([name, { meaning, fallback }]) => [
    `  ${name}`,
    fallback === null ? meaning : `${meaning} (default: ${fallback})`,
  ])
  return table(lines)
}

/** Says what went wrong in one line; commander has said so already of its own errors. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE
  process.stderr.write(`tallyhouse: ${messageOf(error)}\n`)
  return EXIT_FAILED
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Of a connection refused at each address of a name, Node's error has no message but a code.
  const reason = error.message === '' && 'code' in error ? String(error.code) : error.message
  const line = reason.replaceAll(/\s+/g, ' ').trim()
  return isUnreachable(error) ? `ClickHouse does not answer: ${line}` : line
}

try {
  await createProgram().parseAsync()
} catch (error) {
  process.exitCode = report(error)
}
