/**
 * Answers a plan that counts users last about a project that lives across several shards, in rounds: the first statement finds
 * the groups, the others count the users of those that can be on the page.
 *
 * The data may change between two rounds. Round one returns every metric except users, plus the event count. Later rounds repeat them:
 * if an event count is unchanged, so are the users. If all are unchanged, the response is that of the moment of round one. Otherwise
 * there is no response, and the caller runs the one statement that reads everything.
 */
import type { Statement } from '../clickhouse/sql.js'
import { METRICS } from '../model/metrics.js'
import type { RunStatement } from './operation.js'
import type { Plan } from './plan/plan.js'
import { COUNTED_PER_ROW } from './plan/steps.js'
import type { Query } from './request/query.js'
import type { ResponseRows, StoredRow } from './response.js'
import { buildStatement } from './sql/build-statement.js'
import { buildFirstRound, buildUsersRound } from './sql/rounds.js'
import type { ShardGroup } from './sql/shards.js'

/** A row of a round. */
type RoundRow = StoredRow & { readonly group_events?: number }

interface StatementsContext {
  readonly plan: Plan
  readonly nonce: string
  readonly group: ShardGroup | undefined
  readonly run: RunStatement
}
type RoundContext = StatementsContext & { readonly group: ShardGroup }

/**
 * Returns the statement with which a plan begins. A plan that counts users last across shards has others, which depend on the rows
 * of this one; every other plan has only this one, unless its totals have no row to be read from.
 */
export const buildFirstStatement = (
  plan: Plan,
  nonce: string,
  group: ShardGroup | undefined,
): Statement =>
  group === undefined || plan.userCounting.kind === 'all'
    ? buildStatement(plan, nonce, group)
    : buildFirstRound(plan, nonce, group, countListed(plan))

/** Runs a plan: in rounds if it counts users last across shards, and otherwise, or if these have no response, as one statement. */
export async function runPlan(
  plan: Plan,
  nonce: string,
  group: ShardGroup | undefined,
  run: RunStatement,
): Promise<ResponseRows> {
  if (group !== undefined && plan.userCounting.kind !== 'all') {
    const context = { plan, nonce, group, run }
    const isOfPage = plan.userCounting.kind === 'page'
    const answer = await (isOfPage ? countOnPage(context) : countCandidates(context))
    if (answer !== undefined) return answer
  }
  const answer = await run<RoundRow>(buildStatement(plan, nonce, group))
  return addTotals({ plan, nonce, group, run }, answer, answer.rows)
}

/**
 * Adds the totals to a response, if its query asks for them. Every row of the first statement has them; if it returned none,
 * another statement reads them.
 */
async function addTotals(
  context: StatementsContext,
  answer: ResponseRows,
  [first]: readonly StoredRow[],
): Promise<ResponseRows> {
  const totals = await readTotals(context, first)
  return totals === undefined ? answer : { ...answer, totals }
}

/** Returns the totals of which the first row of a response has a copy, or reads them. Undefined if the query does not ask for them. */
export async function readTotals(
  { plan: { query, totals }, nonce, group, run }: StatementsContext,
  first: StoredRow | undefined,
): Promise<StoredRow | undefined> {
  if (totals === undefined) return undefined
  if (first !== undefined) return toTotals(first, query)
  const [row] = (await run<RoundRow>(buildStatement(totals, nonce, group))).rows
  if (row === undefined) throw new TypeError('totals are always one row')
  return row
}

/** Returns the totals of which a row has a copy. Without grouping, they are its own metrics. */
const toTotals = (row: StoredRow, { grouping, metrics, compared }: Query): StoredRow =>
  grouping.kind === 'none'
    ? row
    : {
        group_key: '',
        ...Object.fromEntries(
          metrics.flatMap((metric) => {
            const { key, totalKey, comparedKey, comparedTotalKey } = METRICS[metric]
            const total = [key, row[totalKey] ?? null] as const
            return compared === undefined
              ? [total]
              : [total, [comparedKey, row[comparedTotalKey] ?? null] as const]
          }),
        ),
      }

/** Counts users of the groups on the page, which is ordered by another metric or by group. */
async function countOnPage(context: RoundContext): Promise<ResponseRows | undefined> {
  const { plan, nonce, group, run } = context
  const { rows, total } = await run<RoundRow>(buildFirstRound(plan, nonce, group))
  const counted = await countUsers(context, rows)
  return counted === undefined ? undefined : addTotals(context, { rows: counted, total }, rows)
}

/** How many groups the first round lists for each row up to the end of the page, and at most, if the page is ordered by users. */
const LISTED_PER_ROW = 20
const MAX_LISTED = 10_000

/** Returns how many groups the first round lists; undefined: those on the page. */
function countListed({ query: { limit, offset }, userCounting }: Plan): number | undefined {
  const end = limit + offset
  return userCounting.kind === 'page'
    ? undefined
    : Math.max(end, Math.min(end * LISTED_PER_ROW, MAX_LISTED))
}

/**
 * Counts users of the groups that can be on the page when it is ordered by users: first of those with the most events. A group
 * whose events are fewer than the users of the last group on the page so far cannot come before it. Then it counts the users
 * of all other groups. If these are too many, there is no response.
 */
async function countCandidates(context: RoundContext): Promise<ResponseRows | undefined> {
  const { plan, nonce, group, run } = context
  const { limit, offset } = plan.query
  const end = limit + offset
  const { rows: listed, total } = await run<RoundRow>(
    buildFirstRound(plan, nonce, group, countListed(plan)),
  )
  if (total <= offset) return addTotals(context, { rows: [], total }, listed)

  const first = listed.slice(0, countFitting(listed.slice(0, end * COUNTED_PER_ROW)))
  if (first.length < Math.min(end, total)) return undefined
  const counted = await countUsers(context, first)
  if (counted === undefined) return undefined
  const bound = counted.toSorted(compareByUsers)[end - 1]?.metric_users ?? 0
  const canBeOnPage = (row: RoundRow | undefined): boolean => (row?.group_events ?? 0) >= bound
  if (listed.length < total && canBeOnPage(listed.at(-1))) return undefined

  const others = await countUsers(context, listed.slice(first.length).filter(canBeOnPage))
  if (others === undefined) return undefined
  const rows = [...counted, ...others].toSorted(compareByUsers).slice(offset, end)
  return addTotals(context, { rows, total }, listed)
}

/**
 * Counts the users of some groups. Returns their rows in the same order; undefined if the keys are too long, or one of the
 * groups has changed.
 */
async function countUsers(
  { plan, nonce, group, run }: RoundContext,
  listed: readonly RoundRow[],
): Promise<readonly RoundRow[] | undefined> {
  if (listed.length === 0) return []
  if (countFitting(listed) < listed.length) return undefined
  const keys = listed.map(getKey)
  const { rows } = await run<RoundRow>(buildUsersRound(plan, nonce, group, keys))
  const counted = new Map(rows.map((row) => [getKey(row), row]))
  const same = listed.flatMap((row) => {
    const now = counted.get(getKey(row))
    return now !== undefined && isSame(row, now, plan.query) ? [now] : []
  })
  return same.length < listed.length ? undefined : same
}

/** Whether a group has the same numbers in two rounds, except users. */
const isSame = (before: RoundRow, now: RoundRow, { metrics }: Query): boolean =>
  before.group_events === now.group_events &&
  metrics.every(
    (metric) => metric === 'users' || before[METRICS[metric].key] === now[METRICS[metric].key],
  )

/** Only groupings by a text count users last. */
const getKey = ({ group_key }: StoredRow): string => String(group_key)

/** ClickHouse takes a parameter of 128 KiB. A character may need two. */
const MAX_KEY_BYTES = 60_000

/** Returns of how many of these groups, from the first on, the keys fit into a statement. */
function countFitting(rows: readonly StoredRow[]): number {
  let bytes = 0
  const tooMany = rows.findIndex((row) => {
    bytes += Buffer.byteLength(JSON.stringify(getKey(row))) + 1
    return bytes > MAX_KEY_BYTES
  })
  return tooMany === -1 ? rows.length : tooMany
}

/** Orders rows by users, the most first, and then by group, as ClickHouse compares texts. */
const compareByUsers = (one: StoredRow, other: StoredRow): number =>
  (other.metric_users ?? 0) - (one.metric_users ?? 0) ||
  Buffer.compare(Buffer.from(getKey(one)), Buffer.from(getKey(other)))
