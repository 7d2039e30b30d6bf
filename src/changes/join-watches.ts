/** Joins what several stores say about the data of a project that lives on them. */
import type { DataVersion, VersionWatch } from './watch-changes.js'

/**
 * Returns a watch of the data on several shards. Its versions name the shards: a project that has moved has other data than
 * before, even if nothing was ever announced on either shard.
 *
 * @param shards the names of the shards; none for the only store of a service, whose watch is returned as it is
 * @param watches those of the shards, in the same order
 */
export function joinWatches(
  shards: readonly string[],
  watches: readonly VersionWatch[],
): VersionWatch {
  const [only] = watches
  if (shards.length === 0 && only !== undefined) return only
  return {
    readVersion: async (projectId) =>
      join(shards, await Promise.all(watches.map((watch) => watch.readVersion(projectId)))),
    getLastVersion: (projectId) =>
      join(
        shards,
        watches.map((watch) => watch.getLastVersion(projectId)),
      ),
    isCurrent: (projectId, joined) => {
      const [names, versions] = JSON.parse(joined) as Versions
      return (
        names.join() === shards.join() &&
        watches.every((watch, i) => watch.isCurrent(projectId, versions[i] ?? ''))
      )
    },
  }
}

/** The names of shards, and the version of the data on each. */
type Versions = readonly [shards: readonly string[], versions: readonly DataVersion[]]

function join(
  shards: readonly string[],
  versions: readonly (DataVersion | undefined)[],
): DataVersion | undefined {
  const known = versions.filter((version) => version !== undefined)
  return known.length < versions.length
    ? undefined
    : JSON.stringify([shards, known] satisfies Versions)
}
