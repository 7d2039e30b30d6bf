/** The commands `tallyhouse cluster config | status | add | activate`. */
import type { AddCommand } from '../shared/context.js'
import { addClusterActivate } from './activate.js'
import { addClusterAdd } from './add.js'
import { addClusterConfig } from './config.js'
import { addClusterStatus } from './status.js'

export const addCluster: AddCommand = (program, context) => {
  const cluster = program
    .command('cluster')
    .description('Configure and watch the stores of a cluster')
  for (const add of [addClusterConfig, addClusterStatus, addClusterAdd, addClusterActivate])
    add(cluster, context)
}
