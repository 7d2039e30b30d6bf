/** The groups of shards that wide projects live on: each is a name by which ClickHouse finds the shards of a query. */

/** A group of shards, as ClickHouse knows it: an entry of `remote_servers`. */
export interface Group {
  /** `tallyhouse_<first>_<last>`, by the numbers of the shards from 1. */
  readonly name: string
  /** The names of its shards, in order. */
  readonly shards: readonly string[]
}

/**
 * Lists the groups of a cluster: for each power of two that is smaller than the number of shards, the windows of that
 * width that begin at its multiples, and last of all shards together.
 *
 * @param shards the names of all shards, in order; a single one has no group
 */
export function listGroups(shards: readonly string[]): readonly Group[] {
  const groups: Group[] = []
  for (let width = 2; width < shards.length; width *= 2) {
    for (let start = 0; start + width <= shards.length; start += width) {
      groups.push(createGroup(shards, start, width))
    }
  }
  if (shards.length > 1) groups.push(createGroup(shards, 0, shards.length))
  return groups
}

const createGroup = (shards: readonly string[], start: number, width: number): Group => ({
  name: `tallyhouse_${start + 1}_${start + width}`,
  shards: shards.slice(start, start + width),
})

/** Finds the group of exactly these shards, in this order; undefined if there is none. */
export const findGroup = (all: readonly string[], shards: readonly string[]): Group | undefined =>
  listGroups(all).find(
    (group) =>
      group.shards.length === shards.length && group.shards.every((name, i) => name === shards[i]),
  )
