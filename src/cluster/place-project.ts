/** Chooses the shards of a new project. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement } from '../clickhouse/sql.js'
import { FieldValueError, UserError } from '../lib/errors.js'
import { listVersionMarks } from '../projects/versions.js'
import { requireSingleServers, type Cluster } from './cluster.js'
import { listGroups } from './groups.js'
import { createDeadline, tryShards } from './reach.js'

/** What is asked of a new project. */
interface PlacementRequest {
  /** The only shard of the project; undefined to choose. */
  readonly shard?: string | undefined
  /** The number of its shards. */
  readonly width: number
}

/** How full a shard is. */
export interface Load {
  readonly name: string
  readonly bytes: number
  /** Projects, which tell nearly empty shards apart. */
  readonly projects: number
}

/**
 * Chooses the shards of a new project: the one with the fewest bytes, or the group of that number of shards with the fewest.
 *
 * @returns their names, in order; none for the home alone
 * @throws UserError for a shard or a width that the cluster has not, and if no shard answers
 */
export async function placeProject(
  cluster: Cluster,
  request: PlacementRequest,
): Promise<readonly string[]> {
  requireSingleServers(cluster, request.width)
  const names = cluster.shards.map(({ name }) => name)
  const candidates = listCandidates(names, request)
  const [only = [], ...others] = candidates
  const chosen = others.length === 0 ? only : choose(candidates, await readLoads(cluster))
  const isHome = chosen.length === 1 && chosen[0] === cluster.home.name
  return isHome ? [] : chosen
}

/**
 * Lists the lists of shards that a project may live on.
 *
 * @param names of all shards, in order
 * @throws UserError that names the option
 */
export function listCandidates(
  names: readonly string[],
  { shard, width }: PlacementRequest,
): readonly (readonly string[])[] {
  if (shard !== undefined) {
    if (!names.includes(shard)) {
      throw new FieldValueError('shard', `there is no shard ${shard}: it is ${listChoices(names)}`)
    }
    if (width > 1) {
      throw new FieldValueError('width', 'a project on the named shard alone has no width')
    }
    return [[shard]]
  }
  if (width === 1) return names.map((name) => [name])
  const groups = listGroups(names).map(({ shards }) => shards)
  const found = groups.filter(({ length }) => length === width)
  if (found.length > 0) return found
  const widths = [...new Set([1, ...groups.map(({ length }) => length)])]
  throw new FieldValueError(
    'width',
    `there is no group of ${width} shards: the width is ${listChoices(widths.map(String))}`,
  )
}

/** Lists values: `1`, `1 or 2`, `1, 2 or 4`. */
export const listChoices = (values: readonly string[]): string =>
  values.length < 2
    ? values.join('')
    : `${values.slice(0, -1).join(', ')} or ${values.slice(-1).join('')}`

const MB = 1e6

/**
 * Chooses the candidate with the fewest bytes; nearly equal ones by their projects, and else the first.
 *
 * @param loads of the shards that answer; a candidate with another one is left out
 * @param failure what is said if none is left
 * @throws UserError if no candidate is left
 */
export function choose(
  candidates: readonly (readonly string[])[],
  loads: readonly Load[],
  failure = 'no project was created',
): readonly string[] {
  const rated = candidates.flatMap((names) => {
    const own = loads.filter(({ name }) => names.includes(name))
    if (own.length < names.length) return []
    const sum = (count: (load: Load) => number): number =>
      own.reduce((total, load) => total + count(load), 0)
    return [
      {
        names,
        size: Math.floor(sum(({ bytes }) => bytes) / MB),
        projects: sum((one) => one.projects),
      },
    ]
  })
  const [best] = rated.toSorted((a, b) => a.size - b.size || a.projects - b.projects)
  if (best !== undefined) return best.names
  throw new UserError(`${failure}: not enough shards answer`)
}

/** Reads how full the shards are that answer. */
export async function readLoads({ home, shards }: Cluster): Promise<readonly Load[]> {
  const marks = await listVersionMarks(home.store.writer, { signal: createDeadline() })
  const bytes = new Map<string, number>()
  await tryShards(shards, async ({ name, store }) => {
    bytes.set(name, await readBytes(store.writer))
  })
  return [...bytes].map(([name, count]) => ({
    name,
    bytes: count,
    projects: marks.filter((project) =>
      project.shards.length === 0 ? name === home.name : project.shards.includes(name),
    ).length,
  }))
}

/** Reads the bytes of a store. Any account may ask system.tables, unlike system.parts, which needs a grant. */
export async function readBytes(connection: Connection): Promise<number> {
  const { rows } = await connection.query<{ bytes: number }>(
    statement(sql`
SELECT sum(total_bytes) AS bytes FROM system.tables WHERE database = currentDatabase()`),
    { signal: createDeadline() },
  )
  return rows[0]?.bytes ?? 0
}
