/** Writes the new users of groups: those with a matching event who have no event before the period or bucket. */
import { join, sql, type Sql } from '../../clickhouse/sql.js'
import { MEASURE_COLUMNS } from '../../model/measures.js'
import { RELATIONS, type RelationName } from '../../model/relations.js'
import type { NewUsersPlan, Plan } from '../plan/plan.js'
import type { StatementContext } from './rows.js'
import { writeScan } from './scan.js'
import { listKeys } from './select.js'
import { createWhereWriter } from './where.js'

/** A bitmap of nobody. */
export const NO_USERS = sql`bitmapBuild(emptyArrayUInt32())`

/**
 * Writes a subquery of groups with their new users, as the keys of groups and `measure_new_users`.
 *
 * @param keys an array of the groups to read; absent: all groups
 */
export function writeNewUsers(context: StatementContext, plan: NewUsersPlan, keys?: Sql): Sql {
  const { grouping, thenBy } = context.query
  if (grouping.kind === 'project') return countByProject(context, plan)
  if (grouping.kind !== 'interval') return countByGroup(context, plan, keys)
  return thenBy[0]?.kind === 'project'
    ? countByBucketAndProject(context, plan)
    : countByBucket(context, plan, keys)
}

/** Numbers of users mean others in another project, so each project has its own users before the period. */
function countByProject(context: StatementContext, { users, earlier }: NewUsersPlan): Sql {
  const parts = [
    ...writeUserScans(context, users, (bitmap) => [
      sql`${bitmap} AS matching`,
      sql`${NO_USERS} AS earlier`,
    ]),
    ...writeUserScans(context, earlier, (bitmap) => [
      sql`${NO_USERS} AS matching`,
      sql`${bitmap} AS earlier`,
    ]),
  ]
  const isNew = sql`bitmapAndnot(groupBitmapMergeState(parts.matching), groupBitmapMergeState(parts.earlier))`
  return sql`SELECT group_key, ${countUsers(isNew)} FROM (${join(parts, sql` UNION ALL `)}) AS parts GROUP BY group_key`
}

function countByGroup(
  context: StatementContext,
  { users, earlier }: NewUsersPlan,
  keys: Sql | undefined,
): Sql {
  const parts = writeUserScans(context, users, (bitmap) => [sql`${bitmap} AS matching`], keys)
  const isNew = sql`bitmapAndnot(groupBitmapMergeState(parts.matching), ${writeEarlier(context, earlier)})`
  const keysOfRows = join(listKeys(context.query))
  return sql`SELECT ${keysOfRows}, ${countUsers(isNew)} FROM (${join(parts, sql` UNION ALL `)}) AS parts GROUP BY ${keysOfRows}`
}

/** A user is new in the bucket of their first event, so users of earlier buckets are not. */
function countByBucket(context: StatementContext, plan: NewUsersPlan, keys: Sql | undefined): Sql {
  const { users, everyone, earlier } = plan
  if (context.query.thenBy.length > 0) return countByBucketAndGroup(context, plan, keys)
  const parts = [
    ...writeUserScans(context, users, (bitmap) => [
      sql`${bitmap} AS matching`,
      sql`${everyone === undefined ? sql`matching` : NO_USERS} AS everyone`,
    ]),
    ...writeUserScans(context, everyone, (bitmap) => [
      sql`${NO_USERS} AS matching`,
      sql`${bitmap} AS everyone`,
    ]),
  ]
  const buckets = sql`SELECT group_key, groupBitmapMergeState(parts.matching) AS matching, groupBitmapMergeState(parts.everyone) AS everyone FROM (${join(parts, sql` UNION ALL `)}) AS parts GROUP BY group_key`
  const before = sql`${uniteRowsBefore(sql`buckets.everyone`)} AS before`
  const isNew = sql`bitmapAndnot(bitmapAndnot(matching, before), ${writeEarlier(context, earlier)})`
  return sql`SELECT group_key, ${countUsers(isNew)} FROM (SELECT group_key, matching, ${before} FROM (${buckets}) AS buckets)`
}

/** Counts the new users of each project in each bucket. The users before the period are those of a bucket before all others. */
function countByBucketAndProject(
  context: StatementContext,
  { users, everyone, earlier }: NewUsersPlan,
): Sql {
  const keys = sql`group_key, then_key`
  const groups = uniteUsers(writeUserScans(context, users, selectMatching), keys)
  const before = writeUserScans(context, earlier, selectMatching).map(
    (scan) =>
      sql`SELECT toInt64(-1000000000000) AS group_key, earlier.group_key AS then_key, earlier.matching AS matching FROM (${scan}) AS earlier`,
  )
  const all = [...before, ...writeUserScans(context, everyone, selectMatching)]
  const earlierUsers = sql`groupBitmapMergeState(buckets.matching) OVER (PARTITION BY then_key ORDER BY group_key ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before`
  const days = sql`SELECT ${keys}, ${earlierUsers} FROM (${uniteUsers(all, keys)}) AS buckets`
  const isNew = sql`bitmapAndnot(groups.matching, days.before)`
  return sql`SELECT groups.group_key AS group_key, groups.then_key AS then_key, ${countUsers(isNew)} FROM (${groups}) AS groups INNER JOIN (${days}) AS days ON days.group_key = groups.group_key AND days.then_key = groups.then_key`
}

/** Selects the bitmap of a scan. */
const selectMatching = (bitmap: Sql): readonly Sql[] => [sql`${bitmap} AS matching`]

/** Unites the bitmaps of scans that have the same keys. */
const uniteUsers = (scans: readonly Sql[], keys: Sql): Sql =>
  sql`SELECT ${keys}, groupBitmapMergeState(parts.matching) AS matching FROM (${join(scans, sql` UNION ALL `)}) AS parts GROUP BY ${keys}`

/** Counts the new users of each group in each bucket: users of earlier buckets are not new in any group. */
function countByBucketAndGroup(
  context: StatementContext,
  { users, everyone, earlier }: NewUsersPlan,
  keys: Sql | undefined,
): Sql {
  const keysOfRows = listKeys(context.query)
  const groups = uniteUsers(writeUserScans(context, users, selectMatching, keys), join(keysOfRows))
  const buckets = uniteUsers(writeUserScans(context, everyone, selectMatching), sql`group_key`)
  const before = sql`${uniteRowsBefore(sql`buckets.matching`)} AS before`
  const isNew = sql`bitmapAndnot(bitmapAndnot(groups.matching, days.before), ${writeEarlier(context, earlier)})`
  const shown = keysOfRows.map((key) => sql`groups.${key} AS ${key}`)
  return sql`SELECT ${join([...shown, countUsers(isNew)])} FROM (${groups}) AS groups INNER JOIN (SELECT group_key, ${before} FROM (${buckets}) AS buckets) AS days ON days.group_key = groups.group_key`
}

/** Writes the users of all rows with a smaller `group_key`, which are those of earlier buckets, as one bitmap. */
export const uniteRowsBefore = (bitmap: Sql): Sql =>
  sql`groupBitmapMergeState(${bitmap}) OVER (ORDER BY group_key ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`

const countUsers = (bitmap: Sql): Sql =>
  sql`toInt64(bitmapCardinality(${bitmap})) AS ${MEASURE_COLUMNS.new_users}`

/** Writes the users before the period as one bitmap. */
export function writeEarlier(context: StatementContext, earlier: Plan | undefined): Sql {
  const parts = writeUserScans(context, earlier, (bitmap) => [sql`${bitmap} AS matching`])
  return parts.length === 0
    ? NO_USERS
    : sql`(SELECT groupBitmapMergeState(parts.matching) FROM (${join(parts, sql` UNION ALL `)}) AS parts)`
}

/** Writes the scans of a plan. @param select the columns of a scan with this bitmap of users */
export function writeUserScans(
  context: StatementContext,
  plan: Plan | undefined,
  select: (bitmap: Sql) => readonly Sql[],
  keys?: Sql,
): readonly Sql[] {
  if (plan === undefined) return []
  const { query } = plan
  const isSame = query.predicate === context.query.predicate
  const own = {
    ...context,
    query,
    where: isSame ? context.where : createWhereWriter(query.predicate),
  }
  return plan.scans.map((scan) => writeScan(own, scan, select(getBitmap(scan.relation)), keys))
}

function getBitmap(relation: RelationName): Sql {
  const { userBitmap } = RELATIONS[relation]
  if (userBitmap === undefined) throw new TypeError(`${relation} has no users`)
  return userBitmap
}
