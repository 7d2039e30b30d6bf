/** Chooses the new shards of a project that is widened. */
import { UserError } from '../lib/errors.js'
import { requireSingleServers, type Cluster } from './cluster.js'
import { listGroups } from './groups.js'
import { choose, listChoices, readLoads } from './place-project.js'

/**
 * Chooses, among the groups of that number of shards, the one with the fewest bytes that has the shards of a project.
 *
 * @param former the names of its shards, in order
 * @returns the names of all, the former ones first: their senders keep their order
 * @throws UserError if there is no such group, or its shards do not answer
 */
export async function placeWider(
  cluster: Cluster,
  former: readonly string[],
  width: number,
): Promise<readonly string[]> {
  requireSingleServers(cluster, width)
  const candidates = listWider(
    cluster.shards.map(({ name }) => name),
    former,
    width,
  )
  const loads = await readLoads(cluster)
  return choose(candidates, loads, 'the project was not widened')
}

/**
 * Lists the lists of shards to which a project may be widened.
 *
 * @param names of all shards, in order
 * @throws UserError if there is none
 */
export function listWider(
  names: readonly string[],
  former: readonly string[],
  width: number,
): readonly (readonly string[])[] {
  const groups = listGroups(names)
    .map(({ shards }) => shards)
    .filter((shards) => former.every((name) => shards.includes(name)))
  const found = groups.filter(({ length }) => length === width)
  if (found.length > 0) {
    return found.map((shards) => [...former, ...shards.filter((name) => !former.includes(name))])
  }
  const widths = groups
    .map(({ length }) => length)
    .filter((one) => one > former.length && one % former.length === 0)
  const choices =
    widths.length === 0 ? 'there is no wider one' : `--width is ${listChoices(widths.map(String))}`
  throw new UserError(`there is no group of ${width} shards with ${former.join(', ')}: ${choices}`)
}
