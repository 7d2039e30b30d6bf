/** The command `tallyhouse project move`. */
import type { Command } from 'commander'
import { abortMove, moveProject } from '../../relocation/relocate.js'
import type { CommandContext } from '../shared/context.js'
import { withStore } from '../shared/with-store.js'
import { getRelocationOptions } from './relocation-options.js'

interface MoveOptions {
  readonly to?: string
  readonly abort?: boolean
}

/** Adds the command to `tallyhouse project`. */
export function addMove(project: Command, context: CommandContext): void {
  project
    .command('move')
    .description(
      'In a cluster: move a project to another shard while it is used; run it again after an interruption',
    )
    .argument('<id>', 'Id of the project')
    .option('--to <shard>', 'Name of the shard to move to')
    .option('--abort', 'Give up a move that has not switched yet')
    .action(async (id: string, { to, abort = false }: MoveOptions, command: Command) => {
      if (abort === (to !== undefined)) command.error('error: give either --to or --abort')
      await withStore(context, 'project move', async (opened) => {
        const options = getRelocationOptions(context, opened)
        if (to === undefined) {
          await abortMove(options, id)
          context.print(`the move of project ${id} is given up`)
        } else {
          await moveProject(options, id, to)
          context.print(`moved project ${id} to ${to}`)
        }
      })
    })
}
