/** Requires a cluster of servers. */
import type { Config } from '../../config/config.js'
import type { ConfiguredCluster } from '../../config/stores.js'
import { UserError } from '../../lib/errors.js'

/** @throws UserError when the configuration names no file of servers */
export function requireCluster({ cluster }: Config): ConfiguredCluster {
  if (cluster !== undefined) return cluster
  throw new UserError('CLUSTER is not set: name the file that lists the servers')
}
