/** The label that tells the shards of a cluster apart. Metrics of a service with a single store do not have it. */

export interface ShardLabel {
  /** The names of the label: none or one. */
  readonly names: readonly 'shard'[]
  /** Returns the label of a shard. */
  readonly of: (shard: string) => Readonly<Partial<Record<'shard', string>>>
}

/** @param isCluster whether the service has several stores */
export const createShardLabel = (isCluster: boolean): ShardLabel =>
  isCluster ? { names: ['shard'], of: (shard) => ({ shard }) } : { names: [], of: () => ({}) }
