#!/usr/bin/env node
/** The command `tallyhouse`. No other file reads the command line or the clock. */
import { Command, CommanderError } from 'commander'
import type { AddCommand, CommandContext } from './commands/shared/context.js'
import { formatError, formatTable } from './commands/shared/output.js'
import { readConfig } from './config/config.js'
import { VARIABLES } from './config/variables.js'
import { readVersion } from './lib/version.js'

/** In the order of the help. A process loads only the command that it runs: all of them would take a third longer. */
const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  serve: async () => (await import('./commands/serve.js')).addServe,
  demo: async () => (await import('./commands/demo.js')).addDemo,
  import: async () => (await import('./commands/import/import.js')).addImport,
  migrate: async () => (await import('./commands/migrate.js')).addMigrate,
  backup: async () => (await import('./commands/operate/backup.js')).addBackup,
  restore: async () => (await import('./commands/operate/restore.js')).addRestore,
  project: async () => (await import('./commands/project.js')).addProject,
  goal: async () => (await import('./commands/definitions.js')).addDefinitions('goal'),
  segment: async () => (await import('./commands/definitions.js')).addDefinitions('segment'),
  usage: async () => (await import('./commands/usage.js')).addUsage,
  key: async () => (await import('./commands/key.js')).addKey,
  open: async () => (await import('./commands/open.js')).addOpen,
  user: async () => (await import('./commands/user.js')).addUser,
  ask: async () => (await import('./commands/ask/ask.js')).addAsk,
  report: async () => (await import('./commands/ask/report.js')).addReport,
  mcp: async () => (await import('./commands/ask/mcp.js')).addMcp,
  explain: async () => (await import('./commands/explain/explain.js')).addExplain,
  rollups: async () => (await import('./commands/rollups.js')).addRollups,
  cluster: async () => (await import('./commands/cluster/cluster.js')).addCluster,
  doctor: async () => (await import('./commands/operate/doctor.js')).addDoctor,
}

const EXIT_FAILED = 1
const EXIT_USAGE = 2
const EXIT_CODES = 'Exit codes: 0 done, 1 failed or refused, 2 wrong options.'

const context: CommandContext = {
  config: () => readConfig(),
  now: () => new Date(),
  print: (text) => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${text}\n`),
}

async function createProgram(name: string | undefined): Promise<Command> {
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
    .addHelpText('after', `\nEnvironment variables:\n${formatVariables()}\n\n${EXIT_CODES}`)
  await addCommands(program, name)
  return program
}

/** Adds the command of that name, or all of them if there is none: for the help, for errors, and to complete their names. */
async function addCommands(program: Command, name = ''): Promise<void> {
  const named = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (named !== undefined) {
    const add = await named()
    add(program, context)
    return
  }
  for (const load of Object.values(COMMANDS)) (await load())(program, context)
  const { default: addCompletion } = await import('@bomb.sh/tab/commander')
  addCompletion(program, { completionCommandName: 'completion' })
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

try {
  const program = await createProgram(process.argv[2])
  await program.parseAsync()
} catch (error) {
  process.exitCode = reportError(error)
}
