/** Writes the groups of some scans: one row per group, with the measures of all scans. */
import {
  and,
  int64,
  join,
  numberedName,
  sql,
  strings,
  TRUE,
  type Sql,
} from '../../clickhouse/sql.js'
import {
  getColumn,
  getNothing,
  isOfNumbers,
  MEASURE_COLUMNS,
  mergeMeasure,
  type Measure,
} from '../../model/measures.js'
import { computeMeasure, RELATIONS, type RelationName } from '../../model/relations.js'
import type { NewUsersPlan, Plan, Scan } from '../plan/plan.js'
import { numberBuckets } from '../request/buckets.js'
import { nameConversions, selectConversions, writeConversions } from './conversions.js'
import type { StatementContext } from './rows.js'
import { NO_USERS, writeNewUsers } from './new-users.js'
import { listKeys } from './select.js'
import { writeScan } from './scan.js'

/** What the groups of a plan are read from. */
export type MeasuredPlan = Pick<Plan, 'scans' | 'rows' | 'newUsers' | 'conversions'>

/**
 * Writes the groups: `group_key`, with further groupings `then_key` and so on, a column `measure_…` for each measure of the scans, `measure_new_users` if these are counted, those
 * of conversions and, for a shard of several, `is_row`.
 *
 * @param keys a subquery or an array of the groups to read; absent: all groups
 */
export function writeGroups(context: StatementContext, plan: MeasuredPlan, keys?: Sql): Sql {
  const groups = writeMeasuredGroups(context, plan, keys)
  const joined = listJoined(context, plan, keys)
  if (joined.length === 0) return groups
  const keysOfRows = listKeys(context.query)
  const columns = [
    ...keysOfRows.map((key) => sql`measured.${key} AS ${key}`),
    ...listMeasures(plan.scans).map(
      (measure) => sql`measured.${getColumn(measure)} AS ${getColumn(measure)}`,
    ),
    ...joined.flatMap((one) => one.columns),
    ...(context.isShard ? [sql`measured.is_row AS is_row`] : []),
  ]
  // Without grouping all are a single row, and their keys are constants, which ClickHouse does not join.
  const isOne = context.query.grouping.kind === 'none'
  const joins = joined.map(({ name, select }) => {
    const isSame = keysOfRows.map((key) => sql`${name}.${key} = measured.${key}`)
    return isOne
      ? sql` CROSS JOIN (${select}) AS ${name}`
      : sql` LEFT JOIN (${select}) AS ${name} ON ${and(isSame)}`
  })
  return sql`SELECT ${join(columns)} FROM (${groups}) AS measured${join(joins, sql``)}`
}

/** Groups that are joined to those of the scans. */
interface JoinedGroups {
  readonly name: Sql
  readonly select: Sql
  /** The columns that they add. */
  readonly columns: readonly Sql[]
}

/** Lists the groups that are joined to those of the scans: with new users, and with the conversions of goals. */
function listJoined(
  context: StatementContext,
  { newUsers, conversions = [] }: MeasuredPlan,
  keys: Sql | undefined,
): readonly JoinedGroups[] {
  const { new_users: column } = MEASURE_COLUMNS
  const withNewUsers = (plan: NewUsersPlan): JoinedGroups => ({
    name: sql`new_users`,
    select: writeNewUsers(context, plan, keys),
    columns: [sql`new_users.${column} AS ${column}`],
  })
  return [
    ...(newUsers === undefined ? [] : [withNewUsers(newUsers)]),
    ...conversions.map((one) => ({
      name: nameConversions(one.goal),
      select: writeConversions(context, one, (own) => writeMeasuredGroups(own, one.plan, keys)),
      columns: selectConversions(one),
    })),
  ]
}

/** Writes the groups with the measures of the scans. Without scans there is a single row, or one for each bucket. */
function writeMeasuredGroups(
  context: StatementContext,
  { scans, rows }: Pick<Plan, 'scans' | 'rows'>,
  keys: Sql | undefined,
): Sql {
  if (scans.length === 0 && rows === 'one') return sql`SELECT '' AS group_key, true AS is_row`
  const [only, ...others] = scans
  if (only !== undefined && others.length === 0 && areRowsGroups(only, rows)) {
    const columns = only.measures.map((measure) => selectMeasure(only, measure, false))
    const marks = context.isShard ? [sql`${rows === 'one' ? TRUE : isGroup(only)} AS is_row`] : []
    const scan = writeScan(context, only, [...columns, ...marks], keys)
    return rows === 'one' || only.relation === 'events' || context.isShard
      ? scan
      : sql`${scan} HAVING ${isGroup(only)}`
  }
  const measures = listMeasures(scans)
  // If several scans provide users, their users are united as bitmaps.
  const areBitmaps = scans.filter((scan) => scan.measures.includes('users')).length > 1
  if (context.query.grouping.kind === 'none' && !areNumbersApart(scans)) {
    const parts = scans.map((scan) => {
      const columns = scan.measures.map((measure) => selectMeasure(scan, measure, areBitmaps))
      return { ...scan, select: writeScan(context, scan, columns) }
    })
    const marks = context.isShard ? [sql`true AS is_row`] : []
    return writeTotal(parts, measures, areBitmaps, marks)
  }
  const parts = scans.map((scan) => {
    const columns = measures.map((measure) =>
      scan.measures.includes(measure)
        ? selectMeasure(scan, measure, areBitmaps)
        : selectZero(measure, areBitmaps),
    )
    const isRow = rows === 'one' ? sql`true` : isGroup(scan)
    return writeScan(context, scan, [...columns, sql`${isRow} AS is_row`], keys)
  })
  if (rows === 'buckets' || rows === 'projects') {
    parts.push(writeEmptyRows(context, measures, areBitmaps))
  }
  const united = measures.map((measure) => {
    const column = getColumn(measure)
    const united =
      measure === 'users' && areBitmaps
        ? sql`groupBitmapMerge(parts.${column})`
        : mergeMeasure(measure, sql`parts.${column}`)
    return sql`${united} AS ${column}`
  })
  const marks = context.isShard ? [sql`max(parts.is_row) AS is_row`] : []
  const isRow = context.isShard ? sql`` : sql` HAVING max(is_row)`
  const keysOfRows = listKeys(context.query)
  return sql`SELECT ${join([...keysOfRows, ...united, ...marks])} FROM (${join(parts, sql` UNION ALL `)}) AS parts GROUP BY ${join(keysOfRows)}${isRow}`
}

/** Whether several scans provide the same measure of numbers. They do not all add up. */
const areNumbersApart = (scans: readonly Scan[]): boolean =>
  listMeasures(scans).some(
    (one) => isOfNumbers(one) && scans.filter(({ measures }) => measures.includes(one)).length > 1,
  )

/** A scan of one row, with the measures that it provides. */
interface TotalPart {
  readonly relation: RelationName
  readonly measures: readonly Measure[]
  readonly select: Sql
}

/**
 * Writes the scans beside each other and adds them up. ClickHouse needs less time for it than to unite their rows and group
 * them, as is done for other queries.
 *
 * @param areBitmaps whether users are bitmaps, because several scans provide them
 * @param marks further columns
 */
function writeTotal(
  parts: readonly TotalPart[],
  measures: readonly Measure[],
  areBitmaps: boolean,
  marks: readonly Sql[],
): Sql {
  const named = parts.map((part, i) => ({ ...part, name: numberedName('part', i, part.relation) }))
  const columns = measures.map((measure) => {
    const column = getColumn(measure)
    const values = named
      .filter((part) => part.measures.includes(measure))
      .map(({ name }) => sql`${name}.${column}`)
    const total = measure === 'users' && areBitmaps ? countUsers(values) : join(values, sql` + `)
    return sql`${total} AS ${column}`
  })
  const tables = named.map(({ select, name }) => sql`(${select}) AS ${name}`)
  return sql`SELECT ${join([sql`'' AS group_key`, ...columns, ...marks])} FROM ${join(tables, sql` CROSS JOIN `)}`
}

const countUsers = (bitmaps: readonly Sql[]): Sql =>
  sql`bitmapCardinality(${bitmaps.reduce((united, other) => sql`bitmapOr(${united}, ${other})`)})`

/** Lists the measures that the scans provide, each once. */
export const listMeasures = (scans: readonly Scan[]): readonly Measure[] => [
  ...new Set(scans.flatMap(({ measures }) => measures)),
]

/** Lists the measures that the groups of a plan have: those of its scans, and new users and conversions if it counts them apart. */
export const listGroupMeasures = ({
  scans,
  newUsers,
  conversions = [],
}: Pick<Plan, 'scans' | 'newUsers' | 'conversions'>): readonly Measure[] => [
  ...listMeasures(scans),
  ...(newUsers === undefined ? [] : (['new_users'] as const)),
  ...conversions.flatMap(({ measures }) => measures),
]

/** Whether the groups of a plan's only scan are the rows of the response. Sessions may have groups that add up to zero. */
const areRowsGroups = ({ relation }: Scan, rows: Plan['rows']): boolean =>
  rows === 'one' || (rows === 'events' && (relation === 'events' || relation === 'whole_sessions'))

/** Writes the condition that a row of the scan makes its group a row of the response. */
const isGroup = ({ relation, makesGroups }: Scan): Sql =>
  (makesGroups ? RELATIONS[relation].isGroup : undefined) ?? sql`false`

function selectMeasure({ relation }: Scan, measure: Measure, areBitmaps: boolean): Sql {
  const { userBitmap } = RELATIONS[relation]
  const expression =
    measure === 'users' && areBitmaps ? userBitmap : computeMeasure(relation, measure)
  if (expression === undefined) throw new TypeError(`${relation} lacks a measure`)
  return sql`${expression} AS ${getColumn(measure)}`
}

/** Writes a measure that a scan does not provide, as a value that adds nothing. */
function selectZero(measure: Measure, areBitmaps: boolean): Sql {
  const isBitmap = measure === 'users' && areBitmaps
  return sql`${isBitmap ? NO_USERS : getNothing(measure)} AS ${getColumn(measure)}`
}

/** Writes every bucket of the period, or every project, as a row that counts nothing. */
function writeEmptyRows(
  context: StatementContext,
  measures: readonly Measure[],
  areBitmaps: boolean,
): Sql {
  const columns = measures.map((measure) => selectZero(measure, areBitmaps))
  const { projectIds, grouping } = context.query
  const keys = grouping.kind === 'project' ? strings(projectIds) : writeBucketKeys(context)
  return sql`SELECT ${join([sql`arrayJoin(${keys}) AS group_key`, ...columns, sql`true AS is_row`])}`
}

/** Writes the keys of all buckets of a time series as an array. */
export function writeBucketKeys({
  query: { grouping, period },
  bucketStarts,
}: StatementContext): Sql {
  if (grouping.kind !== 'interval') throw new TypeError('only a time series has buckets')
  const [first, last] = numberBuckets(grouping.granularity, period)
  return bucketStarts ?? sql`range(${int64(first)}, ${int64(last + 1)})`
}
