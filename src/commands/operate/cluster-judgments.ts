/** What `tallyhouse doctor` makes of the shards of a cluster together: pure functions from facts to verdicts. */
import type { SyncPlan } from '../../cluster/plan-sync.js'
import {
  describeCommand,
  describeState,
  type DescribedRelocation,
} from '../../relocation/describe.js'
import type { VersionMark } from '../../projects/versions.js'
import { formatCount } from '../../lib/counts.js'
import { SECOND_MS } from '../../lib/time.js'
import { listFirst } from '../shared/output.js'
import { fail, ok, warn, type Finding } from './judgments.js'

/** A fact about each shard, by its name. */
export type ByShard<Fact> = ReadonlyMap<string, Fact>

/** As many names as are worth reading. */
const MAX_NAMES = 5

/** Lists some of the names. */
const listNames = (names: readonly string[]): string => listFirst(names, MAX_NAMES)

export function judgeVersions(versions: ByShard<string>): Finding {
  const different = new Set(versions.values())
  const [only = ''] = different
  if (different.size <= 1) return ok(`all shards run ClickHouse ${only}`)
  const found = [...versions].map(([name, version]) => `${name} runs ${version}`)
  return warn(listNames(found), 'run the same version of ClickHouse on all shards')
}

/** What a query about "now" and the order of versions may differ by. */
const MAX_APART_MS = SECOND_MS

/** @param aheadMs by how much the clock of this host is ahead of that of each shard */
export function judgeClocks(aheadMs: ByShard<number>): Finding {
  const sorted = [...aheadMs].toSorted(([, a], [, b]) => a - b)
  const [first, last] = [sorted.at(0), sorted.at(-1)]
  const apartMs = (last?.[1] ?? 0) - (first?.[1] ?? 0)
  if (first === undefined || last === undefined || apartMs <= MAX_APART_MS) {
    return ok('the clocks of all shards agree')
  }
  return warn(
    `${first[0]} is ${(apartMs / SECOND_MS).toFixed(1)} seconds ahead of ${last[0]}`,
    'synchronize the clocks of all shards, with NTP for instance',
  )
}

/**
 * @param projects those at home
 * @param names of the configured shards
 */
export function judgePlaces(projects: readonly VersionMark[], names: readonly string[]): Finding {
  const lost = projects.flatMap(({ id, shards }) => {
    const unknown = shards.filter((shard) => !names.includes(shard))
    return unknown.length === 0 ? [] : [`${id} lives on ${unknown.join(' and ')}`]
  })
  if (lost.length === 0) return ok('every project lives on shards of the configuration')
  return fail(
    `${listNames(lost)}, which is not configured`,
    'add the shard to CLUSTER, or raise EMBEDDED_SHARDS: until then the project cannot be used',
  )
}

/** @param plans what each shard that answers needs */
export function judgeCopies(plans: ByShard<SyncPlan>): Finding {
  const different = [...plans].flatMap(([name, { copy, remove, raise }]) => [
    ...(copy.length + raise.size > 0
      ? [`${name} lacks the current version of ${formatCount(copy.length + raise.size, 'project')}`]
      : []),
    ...(remove.length > 0
      ? [`${name} has ${listNames(remove)}, which live elsewhere or nowhere`]
      : []),
  ])
  if (different.length === 0) return ok('every shard has the projects that live on it')
  return warn(
    different.join('; '),
    'start "tallyhouse serve", which repairs them; look at data of projects that remain',
  )
}

/** @param unfinished the moves and widenings that have not ended */
export function judgeRelocations(unfinished: readonly DescribedRelocation[]): Finding {
  const [first] = unfinished
  if (first === undefined) return ok('no project is being moved or widened')
  return warn(
    listNames(unfinished.map((one) => `${one.projectId} ${describeState(one)}`)),
    `if no command does it just now, run "${describeCommand(first)}" again`,
  )
}
