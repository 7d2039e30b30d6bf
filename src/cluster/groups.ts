/** The groups of shards that wide projects live on: each is a name by which ClickHouse finds the shards of a query. */

/** A group of shards, as ClickHouse knows it: an entry of `remote_servers`. */
export interface Group {
  /** `tallyhouse_<first>_<last>`, by the numbers of the shards from 1. */
  readonly name: string
  /** The names of its shards, in order. */
  readonly shards: readonly string[]
}

/**
 * Lists the groups that a new project may live across: for each power of two that is smaller than the number of shards, the windows of that
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

/** Up to this many shards, a project that lived across all of them keeps its group when shards are added. */
const MAX_FORMER_SHARDS = 32

/**
 * Lists the groups that ClickHouse knows: those of `listGroups`, and what all shards were before others were added at the
 * end of the list.
 */
export function listServedGroups(shards: readonly string[]): readonly Group[] {
  const groups = [...listGroups(shards)]
  const names = new Set(groups.map(({ name }) => name))
  for (let width = 2; width <= Math.min(shards.length, MAX_FORMER_SHARDS); width++) {
    const group = createGroup(shards, 0, width)
    if (!names.has(group.name)) groups.push(group)
  }
  return groups
}

const createGroup = (shards: readonly string[], start: number, width: number): Group => ({
  name: `tallyhouse_${start + 1}_${start + width}`,
  shards: shards.slice(start, start + width),
})

/** Finds the group of exactly these shards, in any order; undefined if there is none. */
export function findGroup(all: readonly string[], shards: readonly string[]): Group | undefined {
  const width = new Set(shards).size
  const positions = shards.map((name) => all.indexOf(name))
  const start = Math.min(...positions)
  const isWindow = start >= 0 && width === shards.length && Math.max(...positions) < start + width
  return isWindow && isServed(start, width, all.length) ? createGroup(all, start, width) : undefined
}

/** Whether there is a group of a width that begins at a position. */
function isServed(start: number, width: number, total: number): boolean {
  if (width < 2) return false
  if (start === 0 && (width === total || width <= MAX_FORMER_SHARDS)) return true
  return Number.isInteger(Math.log2(width)) && start % width === 0
}
