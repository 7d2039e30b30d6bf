/** The command `tallyhouse project widen`. */
import type { Command } from 'commander'
import { abortWidening, widenProject } from '../../relocation/relocate.js'
import type { CommandContext } from '../shared/context.js'
import { parseCount } from '../shared/options.js'
import { withStore } from '../shared/with-store.js'
import { getRelocationOptions } from './relocation-options.js'

interface WidenOptions {
  readonly width?: number
  readonly abort?: boolean
}

/** Adds the command to `tallyhouse project`. */
export function addWiden(project: Command, context: CommandContext): void {
  project
    .command('widen')
    .description(
      'In a cluster: divide a project over more shards while it is used; run it again after an interruption',
    )
    .argument('<id>', 'Id of the project')
    .option(
      '--width <count>',
      'The number of its shards afterwards, a multiple of the present one',
      parseCount,
    )
    .option('--abort', 'Give up a widening that has not switched yet')
    .action(async (id: string, { width, abort = false }: WidenOptions, command: Command) => {
      if (abort === (width !== undefined)) command.error('error: give either --width or --abort')
      await withStore(context, 'project widen', async (opened) => {
        const options = getRelocationOptions(context, opened)
        if (width === undefined) {
          await abortWidening(options, id)
          context.print(`the widening of project ${id} is given up`)
        } else {
          const shards = await widenProject(options, id, width)
          context.print(`widened project ${id} to ${shards.join(', ')}`)
        }
      })
    })
}
