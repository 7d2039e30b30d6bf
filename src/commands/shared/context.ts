/** What the commands are given, and how one opens the store. */
import type { Command } from 'commander'
import { openStore, type OpenedStore } from '../../bootstrap/open-store.js'
import type { Config } from '../../config/config.js'

export interface CommandContext {
  /** Reads the environment; called by a command that runs, so that --help needs none. */
  readonly config: () => Config
  readonly now: () => Date
  /** Writes a result to standard output, and a line end behind it. */
  readonly print: (text: string) => void
  /** Tells people what is going on: a line on standard error. */
  readonly note: (text: string) => void
}

/** Adds a command, with its options and subcommands, to the program. */
export type AddCommand = (program: Command, context: CommandContext) => void

/** Does the work of a short command with the store open. */
export async function withStore<Result>(
  { config }: CommandContext,
  purpose: string,
  work: (service: OpenedStore) => Promise<Result>,
): Promise<Result> {
  const service = await openStore(config(), purpose)
  try {
    return await work(service)
  } finally {
    await service.close()
  }
}
