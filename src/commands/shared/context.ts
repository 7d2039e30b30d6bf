/** The context that every command receives: configuration, clock and output. */
import type { Command } from 'commander'
import type { Config } from '../../config/config.js'

export interface CommandContext {
  /** Reads the environment. Commands call it when they run, so `--help` works with any environment. */
  readonly config: () => Config
  readonly now: () => Date
  /** Writes a result to standard output, and a line feed. */
  readonly print: (text: string) => void
  /** Writes a message for people to standard error, and a line feed. */
  readonly note: (text: string) => void
}

/** Adds a command, with its options and subcommands, to the program. */
export type AddCommand = (program: Command, context: CommandContext) => void
