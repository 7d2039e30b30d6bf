/** Adds a server to the text of a cluster file. Comments and the order of the rest stay. */
import { parseDocument } from 'yaml'
import { parseClusterFile, type ClusterFile } from './cluster-file.js'

/** A server as the file has it. */
export interface NewShard {
  readonly name: string
  readonly url: string
  /** `host:port`. */
  readonly native: string
  readonly secure?: true
}

/**
 * Adds a server at the end of the list.
 *
 * @returns the new text, and what it says
 * @throws ConfigError when the file with the server is not valid
 */
export function addShard(
  text: string,
  shard: NewShard,
): { readonly text: string; readonly file: ClusterFile } {
  parseClusterFile(text)
  const document = parseDocument(text)
  document.addIn(['shards'], document.createNode(shard))
  const changed = document.toString({ lineWidth: 0 })
  return { text: changed, file: parseClusterFile(changed) }
}
