/** What the commands that give a project other shards have in common. */
import type { OpenedCluster } from '../../bootstrap/open-cluster.js'
import type { RelocationOptions } from '../../relocation/run.js'
import type { CommandContext } from '../shared/context.js'
import { getContext } from '../shared/shards.js'

/** What they do next is told beside their output. */
export const getRelocationOptions = (
  context: CommandContext,
  opened: OpenedCluster,
): RelocationOptions => ({
  cluster: opened.cluster,
  getContext: getContext(opened),
  now: context.now,
  onProgress: (text) => context.note(text),
})
