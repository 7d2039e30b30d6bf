/** Writes the one statement that answers a plan about several projects: a row for each project, or for each of its buckets. */
import { join, sql, statement, type Statement } from '../../clickhouse/sql.js'
import { selectOrigin } from '../../model/origin.js'
import { listScans, type Plan } from '../plan/plan.js'
import { joinCompared, selectCompared } from './comparison.js'
import { listMeasures } from './groups.js'
import { createContext } from './rows.js'
import { listKeys, selectMetrics } from './select.js'
import { writeGroupsOfProject, type ShardGroup } from './shards.js'

/**
 * Writes the statement of a plan that groups by project. It has the columns of `buildStatement`, in no order and without a limit. Its
 * rows are marked with their own project.
 *
 * @param group the shards that all of the projects live across; undefined if they live on the one that runs the statement
 */
export function buildProjectsStatement(
  plan: Plan,
  nonce: string,
  group: ShardGroup | undefined,
): Statement {
  const { query } = plan
  const context = createContext(plan)
  const keys = listKeys(query)
  const project = join(keys.slice(-1))
  const columns = [
    ...keys,
    ...selectMetrics(query, query.metrics, listMeasures(listScans(plan))),
    ...selectCompared(plan),
    selectOrigin(project, nonce),
  ]
  const groups = writeGroupsOfProject(context, plan, group)
  return statement(sql`SELECT ${join(columns)} FROM ${joinCompared(context, plan, groups, group)}`)
}
