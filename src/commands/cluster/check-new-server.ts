/** Checks a server that is about to join a cluster, and what its joining means for the projects there. */
import { connect } from '../../clickhouse/connection.js'
import type { Endpoint } from '../../clickhouse/endpoint.js'
import { isUnreachable } from '../../clickhouse/errors.js'
import { readMigrationStatus } from '../../clickhouse/migrations/migration-status.js'
import { requireFitServer } from '../../clickhouse/checks/server-checks.js'
import { sql, statement, string } from '../../clickhouse/sql.js'
import { findGroup } from '../../cluster/groups.js'
import { UserError } from '../../lib/errors.js'
import type { StoredProject } from '../../projects/project.js'
import { RESPONSE_MS, describeFailure } from './examine-shard.js'

/**
 * Checks that a server can be a further shard.
 *
 * @returns warnings about faults with which it can
 * @throws UserError when it does not answer, is not fit, is a server of the cluster already, or has data
 */
export async function checkNewServer(
  endpoint: Endpoint,
  others: readonly Endpoint[],
): Promise<readonly string[]> {
  const warnings = await requireFitServer(endpoint).catch((error: unknown) => {
    if (!isUnreachable(error)) throw error
    throw new UserError(`${endpoint.url} does not answer: ${describeFailure(error)}`)
  })
  await requireOther(endpoint, others)
  await requireEmpty(endpoint)
  return warnings
}

/** Shards with one server would load and count the same events. A server that is away cannot be compared. */
async function requireOther(endpoint: Endpoint, others: readonly Endpoint[]): Promise<void> {
  const id = await readDatabaseId(endpoint)
  if (id === undefined) return
  const known = await Promise.all(
    others.map((other) => readDatabaseId(other).catch(() => undefined)),
  )
  if (known.includes(id)) {
    throw new UserError(`${endpoint.url} is a server that is in the cluster already`)
  }
}

/** Returns what tells the database from those of other servers; undefined if there is none yet. */
async function readDatabaseId(endpoint: Endpoint): Promise<string | undefined> {
  const connection = connect({ ...endpoint, database: 'system' }, 'writer')
  try {
    const { rows } = await connection.query<{ id: string }>(
      statement(
        sql`SELECT toString(uuid) AS id FROM system.databases WHERE name = ${string(endpoint.database)}`,
      ),
      { signal: AbortSignal.timeout(RESPONSE_MS) },
    )
    return rows[0]?.id
  } finally {
    await connection.close()
  }
}

async function requireEmpty(endpoint: Endpoint): Promise<void> {
  const connection = connect(endpoint, 'writer')
  try {
    if (!(await readMigrationStatus(connection)).isSetUp) return
    const { rows } = await connection.query<{ rows: number }>(
      statement(sql`
SELECT (SELECT count() FROM projects) + (SELECT count() FROM events) + (SELECT count() FROM inbox WHERE line != '') AS rows`),
    )
    if ((rows[0]?.rows ?? 0) === 0) return
    throw new UserError(
      `the database ${endpoint.database} at ${endpoint.url} has projects or events: add a server without any`,
    )
  } finally {
    await connection.close()
  }
}

/**
 * Checks that each project still has a group when a shard follows the others.
 *
 * @throws UserError that names a project without one: it lives across all of very many shards
 */
export function requireGroups(
  projects: readonly Pick<StoredProject, 'id' | 'shards'>[],
  names: readonly string[],
): void {
  const lost = projects.find(
    ({ shards }) => shards.length > 1 && findGroup(names, shards) === undefined,
  )
  if (lost === undefined) return
  throw new UserError(
    `the project ${lost.id} lives across all shards, and would have no group beside another one`,
  )
}
