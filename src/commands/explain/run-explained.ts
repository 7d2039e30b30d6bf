/** Runs the query of `tallyhouse explain`, and reads what it cost: each statement, and each shard, if the project lives across several. */
import { randomUUID } from 'node:crypto'
import type { RunStatement } from '../../analytics/operation.js'
import type { Connection } from '../../clickhouse/connection.js'
import { getClickHouseReason } from '../../clickhouse/errors.js'
import { createQueryRunner } from '../../clickhouse/run.js'
import { sql, statement, string, type Statement } from '../../clickhouse/sql.js'
import type { ProjectShards } from '../../cluster/cluster.js'
import { isStoreFailure } from '../../cluster/reach.js'
import { openReader } from '../../cluster/shard-reads.js'
import { readLoggedCosts, withLog, type LoggedCosts } from '../../cluster/shard-costs.js'
import type { ExplainedStatement, Explanation, RunCost, ShardCosts } from './explanation.js'
import type { CommandContext } from '../shared/context.js'

/** Reads the rows of a response with a function that runs its statements. */
export type ReadResponse = (run: RunStatement) => Promise<{ readonly rows: readonly object[] }>

/**
 * Runs the statements of a response as the service does.
 *
 * @param statements takes each statement that is run, with its cost if it succeeds
 * @returns what the statements cost together
 * @throws ApiError when one fails
 */
export async function runExplained(
  context: CommandContext,
  shards: ProjectShards,
  read: ReadResponse,
  statements: ExplainedStatement[],
): Promise<NonNullable<Explanation['run']>> {
  const [{ store }, ...others] = shards
  const requestId = `explain-${randomUUID()}`
  const reader = others.length === 0 ? store.reader : withLog(openReader(shards))
  const { queryTimeoutMs } = context.config()
  const run = createQueryRunner({ ...store, reader }, queryTimeoutMs, { requestId })
  const { rows } = await read(async <Row extends object>(asked: Statement) => {
    const text = await formatSql(store.reader, asked)
    const explained = { sql: text, parameters: asked.query_params, run: null }
    const number = statements.push(explained) - 1
    const result = await run<Row>(asked)
    statements[number] = { ...explained, run: { ...result.cost, rows: result.rows.length } }
    return result
  })
  const costs = statements.flatMap((statement) => statement.run ?? [])
  const add = (name: keyof RunCost): number => costs.reduce((sum, cost) => sum + cost[name], 0)
  const answered = {
    rowsRead: add('rowsRead'),
    bytesRead: add('bytesRead'),
    ms: add('ms'),
    rows: rows.length,
  }
  if (others.length === 0) return answered
  return { ...answered, ...(await readShardCosts(context, shards, requestId, statements.length)) }
}

/** Lets ClickHouse format SQL, with one clause per line. */
async function formatSql(reader: Connection, { query }: Statement): Promise<string> {
  const { rows } = await reader.query<{ text: string }>(
    statement(sql`SELECT formatQuery(${string(query)}) AS text`),
  )
  return rows[0]?.text ?? query
}

/**
 * Reads what the statements of a request cost each shard. A shard whose log does not tell is left out and noted: the account
 * of the command may lack the right to read it, or a server keeps no log.
 *
 * @param count how many statements the request had
 */
async function readShardCosts(
  { note }: CommandContext,
  shards: ProjectShards,
  requestId: string,
  count: number,
): Promise<ShardCosts> {
  const read = await Promise.all(
    shards.map(({ store }, i) =>
      readLoggedCosts(store, requestId, count, i === 0).then(
        (costs) => costs ?? 'its system.query_log does not have the query',
        (error: unknown) => {
          if (!isStoreFailure(error)) throw error
          return getClickHouseReason(error) ?? 'it does not answer'
        },
      ),
    ),
  )
  const known = shards.flatMap(({ name }, i): readonly (LoggedCosts & { name: string })[] => {
    const costs = read[i]
    if (typeof costs === 'object') return [{ name, ...costs }]
    note(`what ${name} did is not known: ${costs}`)
    return []
  })
  const asking = known.find((costs) => costs.asking !== undefined)?.asking
  return {
    shards: known.map(({ name, asked }) => ({ name, ...asked })),
    asking: asking === undefined ? null : { ms: asking.ms, cpuMs: asking.cpuMs },
  }
}
