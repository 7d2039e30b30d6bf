/** Runs small queries over groups of shards: whether the shards of a group know and reach each other, and what that costs. */
import { acrossStores } from '../../cluster/shard-settings.js'
import { identifier, sql, statement } from '../../clickhouse/sql.js'
import type { Store } from '../../clickhouse/store.js'
import { listServedGroups, type Group } from '../../cluster/groups.js'
import { RESPONSE_MS, describeFailure } from './examine-shard.js'

/** What a query over a group took. */
export interface TimedGroup {
  readonly group: string
  readonly shards: number
  /** Milliseconds of the fastest of three queries that read nothing; null if they fail. */
  readonly ms: number | null
  /** Why they fail; null if they do not. */
  readonly reason: string | null
}

const TRIES = 3

/** Asks all shards of a group through one of them. Never rejects. */
export async function timeGroup({ lookups }: Store, group: Group): Promise<TimedGroup> {
  const question = statement(
    sql`SELECT count() AS shards FROM cluster(${identifier(group.name)}, view(SELECT 1 AS one))`,
  )
  const described = { group: group.name, shards: group.shards.length }
  const times: number[] = []
  try {
    for (let i = 0; i < TRIES; i++) {
      const begun = performance.now()
      const { rows } = await acrossStores(lookups).query<{ shards: number }>(question, {
        signal: AbortSignal.timeout(RESPONSE_MS),
      })
      times.push(performance.now() - begun)
      const asked = rows[0]?.shards ?? 0
      if (asked !== described.shards) {
        const reason = `it has ${asked} shards there, not ${described.shards}: ${ADVICE}`
        return { ...described, ms: null, reason }
      }
    }
    return { ...described, ms: Math.round(Math.min(...times) * 10) / 10, reason: null }
  } catch (error) {
    return { ...described, ms: null, reason: explain(describeFailure(error)) }
  }
}

const ADVICE = 'run "tallyhouse cluster config" and put its files on every server'

const explain = (reason: string): string =>
  /cluster .* not found/i.test(reason) ? `it does not know the group: ${ADVICE}` : reason

/** Returns the smallest group of a shard; undefined for a single one. */
export const findSmallestGroup = (all: readonly string[], shard: string): Group | undefined =>
  listServedGroups(all)
    .filter(({ shards }) => shards.includes(shard))
    .toSorted((a, b) => a.shards.length - b.shards.length)[0]

/** Returns the group of all shards; undefined for a single one. */
export const findWholeGroup = (all: readonly string[]): Group | undefined =>
  listServedGroups(all).find(({ shards }) => shards.length === all.length)
