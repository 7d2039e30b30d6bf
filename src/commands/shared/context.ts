/** The context that every command receives: configuration, clock and output. */
import type { Command } from 'commander'
import type { Cluster } from '../../cluster/cluster.js'
import type { Config } from '../../config/config.js'
import { COMMAND_LINE, type ManagementContext } from '../../management/context.js'

export interface CommandContext {
  /** Reads the environment. Commands call it when they run, so `--help` works with any environment. */
  readonly config: () => Config
  readonly now: () => Date
  /** Writes a result to standard output, and a line feed. */
  readonly print: (text: string) => void
  /** Writes a message for people to standard error, and a line feed. */
  readonly note: (text: string) => void
}

/** Returns what the use cases of management need from a command. */
export const getManagement = ({ now }: CommandContext, cluster: Cluster): ManagementContext => ({
  cluster,
  actor: COMMAND_LINE,
  now,
})

/** Adds a command, with its options and subcommands, to the program. */
export type AddCommand = (program: Command, context: CommandContext) => void
