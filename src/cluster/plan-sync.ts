/** Decides how the copies of projects on a shard differ from the projects at home. */
import type { VersionMark } from '../projects/versions.js'

/** What a shard needs, by the ids of projects. */
export interface SyncPlan {
  /** Projects whose copy is missing or older. */
  readonly copy: readonly string[]
  /** Copies of projects that do not live there, do not exist, or are other ones that had the same id. */
  readonly remove: readonly string[]
  /** Projects with a later version than at home, which was restored from a backup; each with that version. */
  readonly raise: ReadonlyMap<string, number>
}

/**
 * @param home the projects
 * @param name the name of a shard other than home
 * @param copies the copies that it has
 */
export function planSync(
  home: readonly VersionMark[],
  name: string,
  copies: readonly VersionMark[],
): SyncPlan {
  const own = new Map(
    home.filter(({ shards }) => shards.includes(name)).map((one) => [one.id, one]),
  )
  const had = new Map(copies.map((one) => [one.id, one]))
  const isSame = (one: VersionMark | undefined, other: VersionMark | undefined): boolean =>
    one?.createdMs === other?.createdMs
  return {
    copy: [...own.values()]
      .filter((project) => {
        const copy = had.get(project.id)
        // A deletion has removed the copy, and will remove the project last.
        if (copy === undefined) return !project.isDeleting
        return !isSame(project, copy) || copy.version < project.version
      })
      .map(({ id }) => id),
    remove: copies.filter((copy) => !isSame(copy, own.get(copy.id))).map(({ id }) => id),
    raise: new Map(
      copies.flatMap((copy) => {
        const project = own.get(copy.id)
        const isLater = project !== undefined && copy.version > project.version
        return isLater && isSame(copy, project) ? [[copy.id, copy.version] as const] : []
      }),
    ),
  }
}
