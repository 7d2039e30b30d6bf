/** Stores the goals and segments of projects: the table `definitions` of the home. The row with the highest version counts. */
import type { Connection, QueryOptions } from '../clickhouse/connection.js'
import { boolean, sql, statement, string, uint64 } from '../clickhouse/sql.js'
import type { Filter } from '../contract/api.js'
import type { Definition, DefinitionKind } from '../model/definitions.js'

/** A definition with the number of its version, from 1. */
export interface DefinitionVersion {
  readonly definition: Definition
  readonly version: number
  readonly isDeleted: boolean
}

interface DefinitionRow {
  readonly kind: DefinitionKind
  readonly name: string
  readonly filters: string
  readonly value: string
  readonly is_deleted: boolean
  readonly version: number
}

/** Lists the definitions of a project by their kinds and names, also those that were deleted. */
export async function listDefinitionVersions(
  connection: Connection,
  projectId: string,
  options: QueryOptions = {},
): Promise<readonly DefinitionVersion[]> {
  const { rows } = await connection.query<DefinitionRow>(
    statement(sql`
SELECT kind, name, filters, value, is_deleted, version
FROM definitions FINAL WHERE project_id = ${string(projectId)} ORDER BY kind, name`),
    options,
  )
  return rows.map(({ kind, name, filters, value, is_deleted: isDeleted, version }) => ({
    definition: {
      kind,
      name,
      filters: JSON.parse(filters) as readonly Filter[],
      value: value === '' ? null : (value as Definition['value']),
    },
    isDeleted,
    version,
  }))
}

/** Lists the goals and segments of a project, by their kinds and names. */
export const listDefinitions = async (
  connection: Connection,
  projectId: string,
  options?: QueryOptions,
): Promise<readonly Definition[]> =>
  (await listDefinitionVersions(connection, projectId, options))
    .filter(({ isDeleted }) => !isDeleted)
    .map(({ definition }) => definition)

/** Writes a version of a definition. May be repeated. */
export const writeDefinition = (
  writer: Connection,
  projectId: string,
  { definition: { kind, name, filters, value }, isDeleted, version }: DefinitionVersion,
): Promise<void> =>
  writer.execute(
    statement(sql`
INSERT INTO definitions (project_id, kind, name, filters, value, is_deleted, version)
SELECT ${string(projectId)}, ${string(kind)}, ${string(name)}, ${string(JSON.stringify(filters))},
  ${string(value ?? '')}, ${boolean(isDeleted)}, ${uint64(version)}`),
  )
