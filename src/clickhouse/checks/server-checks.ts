/** What a ClickHouse must be so that Tallyhouse counts right on it, as a table of checks. */
import { UserError } from '../../lib/errors.js'
import { connect } from '../connection.js'
import type { Account, Endpoint } from '../endpoint.js'
import { sql, statement, string, type Sql } from '../sql.js'

/** The oldest version of ClickHouse on which the tests pass. */
const MIN_CLICKHOUSE_VERSION = '26.7'

type Row = Readonly<Record<string, string | number>>

interface ServerCheck {
  /** What is checked: a noun phrase. */
  readonly name: string
  /** The account that asks. */
  readonly account: Account
  /** Reads the facts, outside of the service's database, which may not exist yet. */
  readonly query: (endpoint: Endpoint) => Sql
  /** How often it is asked at once, each time over a connection of its own; once by default. */
  readonly times?: number
  /** Says what is wrong, in half a sentence; undefined if nothing is. */
  readonly findFault: (rows: readonly Row[], endpoint: Endpoint) => string | undefined
  /** Whether a start refuses the server because of the fault, or warns of it. */
  readonly severity: 'refuse' | 'warn'
  /** What to do about the fault: an imperative. */
  readonly advice: string
}

/** Tables whose engine shows what a server makes of `ENGINE = MergeTree`. Tables of other applications do not matter. */
const OWN_TABLES = ['projects', 'inbox', 'loads', 'events', 'sessions', 'users', 'event_ids']

/** Enough connections that a balancer before two servers uses both, as good as certainly. */
const MANY_CONNECTIONS = 12

/** Grants with which an account may change tables. Queries across several servers need temporary ones. */
const WRITES = /^GRANT [^]*\b(ALL|INSERT|ALTER|CREATE(?! TEMPORARY)|DROP|TRUNCATE)\b[^]* ON /

export const SERVER_CHECKS: readonly ServerCheck[] = [
  {
    name: 'the version of ClickHouse',
    account: 'writer',
    query: () => sql`SELECT version() AS version`,
    findFault: ([row]) => {
      const version = String(row?.['version'])
      return isOlder(version, MIN_CLICKHOUSE_VERSION)
        ? `ClickHouse ${version} is older than ${MIN_CLICKHOUSE_VERSION}`
        : undefined
    },
    severity: 'refuse',
    advice: `upgrade it to ${MIN_CLICKHOUSE_VERSION} or newer`,
  },
  {
    name: 'one server',
    account: 'writer',
    times: MANY_CONNECTIONS,
    query: () => sql`SELECT concat(hostName(), ' ', toString(serverUUID())) AS server`,
    findFault: (rows) => {
      const servers = new Set(rows.map(({ server }) => server))
      return servers.size > 1 ? `${servers.size} servers answer at one address` : undefined
    },
    severity: 'refuse',
    advice: 'name a single server in CLICKHOUSE_URL, not a balancer or a cluster',
  },
  {
    name: 'the engine of the database',
    account: 'writer',
    query: ({ database }) =>
      sql`SELECT engine FROM system.databases WHERE name = ${string(database)}`,
    findFault: ([row], { database }) =>
      row === undefined || row['engine'] === 'Atomic'
        ? undefined
        : `the database ${database} has the engine ${row['engine'] ?? ''}, not Atomic`,
    severity: 'refuse',
    advice: 'create a database with ENGINE = Atomic, and name it in CLICKHOUSE_URL',
  },
  {
    name: 'the engines of the tables',
    account: 'writer',
    query: ({ database }) => sql`
SELECT name, engine FROM system.tables
WHERE database = ${string(database)} AND match(engine, '^(Replicated|Shared)') ORDER BY name`,
    findFault: (rows, { replica, replicas }) => {
      const own = rows.find(({ name }) => OWN_TABLES.includes(String(name)))
      if ((replica ?? replicas) !== undefined && String(own?.['engine']).startsWith('Replicated'))
        return undefined
      return own && `the table ${own['name'] ?? ''} has the engine ${own['engine'] ?? ''}`
    },
    severity: 'refuse',
    advice:
      'use a server that keeps plain MergeTree tables, or name its replicas in CLUSTER; not ClickHouse Cloud',
  },
  {
    name: 'accounts of their own',
    account: 'reader',
    query: () => sql`SELECT 1 AS one`,
    findFault: (_rows, { accounts: { reader, writer } }) =>
      reader.username === writer.username
        ? `queries run as ${reader.username}, the account that loads events`
        : undefined,
    severity: 'warn',
    advice: 'set CLICKHOUSE_READER_USER to an account that may only read',
  },
  {
    name: 'the rights of the reader',
    account: 'reader',
    query: () => sql`SHOW GRANTS`,
    findFault: (rows, { accounts: { reader } }) =>
      rows.flatMap(Object.values).some((grant) => WRITES.test(String(grant)))
        ? `the account for queries, ${reader.username}, may write`
        : undefined,
    severity: 'warn',
    advice: 'grant it SELECT only, as clickhouse/config/users.xml does',
  },
]

/** The outcome of one check. */
export interface CheckedServer {
  readonly name: string
  readonly verdict: 'fit' | ServerCheck['severity']
  /** What is wrong, and what to do about it; undefined if nothing is wrong. */
  readonly fault: string | undefined
  readonly advice: string | undefined
}

/** Asks the server everything. @throws the client's error when it does not answer */
export const checkServer = (endpoint: Endpoint): Promise<readonly CheckedServer[]> =>
  Promise.all(SERVER_CHECKS.map((check) => runServerCheck(check, endpoint)))

/** Asks the server one thing. @throws the client's error when it does not answer */
export async function runServerCheck(
  check: ServerCheck,
  endpoint: Endpoint,
): Promise<CheckedServer> {
  const connection = connect({ ...endpoint, database: 'system' }, check.account)
  try {
    const asked = Array.from({ length: check.times ?? 1 }, () =>
      connection.query<Row>(statement(check.query(endpoint))),
    )
    const rows = (await Promise.all(asked)).flatMap((answer) => answer.rows)
    return judge(check, rows, endpoint)
  } finally {
    await connection.close()
  }
}

/** Judges the responses to a check. */
export function judge(
  { name, findFault, severity, advice }: ServerCheck,
  rows: readonly Row[],
  endpoint: Endpoint,
): CheckedServer {
  const fault = findFault(rows, endpoint)
  if (fault === undefined) return { name, verdict: 'fit', fault, advice: undefined }
  return { name, verdict: severity, fault, advice }
}

/**
 * Checks that a server is fit for the service.
 *
 * @returns warnings about faults with which the service still counts right
 * @throws UserError that says what is wrong and what to do
 */
export async function requireFitServer(endpoint: Endpoint): Promise<readonly string[]> {
  const checked = await checkServer(endpoint)
  const withVerdict = (wanted: CheckedServer['verdict']): readonly string[] =>
    checked.flatMap(({ verdict, fault = '', advice = '' }) =>
      verdict === wanted ? [`${fault}: ${advice}`] : [],
    )
  const [refusal] = withVerdict('refuse')
  if (refusal !== undefined) throw new UserError(refusal)
  return withVerdict('warn')
}

/** Returns whether a version such as `25.8.1.1` is older than the minimum `26.7`. */
function isOlder(version: string, minimum: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [minMajor = 0, minMinor = 0] = minimum.split('.').map(Number)
  return major < minMajor || (major === minMajor && minor < minMinor)
}
