/** Goals and segments of projects: defines, changes and deletes them, and records who did. */
import { withJoinedLease } from '../clickhouse/lease/joined-lease.js'
import { DEFINITION_NAME } from '../contract/management-api.js'
import { ConflictError, FieldValueError, MissingError } from '../lib/errors.js'
import {
  checkDefinition,
  listNamedSegments,
  pickSettings,
  type Definition,
  type DefinitionKind,
} from '../model/definitions.js'
import { listDefinitionVersions, writeDefinition } from '../projects/definitions.js'
import type { StoredProject } from '../projects/project.js'
import { requireProject } from '../projects/store.js'
import { isDeepStrictEqual } from 'node:util'
import { recordChange } from './audit-log.js'
import type { ManagementContext } from './context.js'

type Project = Pick<StoredProject, 'id' | 'org'>

/** How many goals a project has at most, and how many segments. */
const MAX_DEFINITIONS = 500
const VALUE = /^event:prop:[^\0]{1,128}$/

/** Rejects the change of a definition as it is; undefined if there is none. It is called while no other change can be made. */
export type CheckChange = (before: Definition | undefined) => void

/**
 * Defines a goal or a segment, or gives an existing one these filters and this value. The same again changes nothing.
 *
 * @param definition its filters are valid by themselves
 * @returns whether it is new
 * @throws FieldValueError for an invalid field, an unknown segment, or segments that name each other in a circle; ConflictError for a
 *   project that is being deleted
 */
export async function putDefinition(
  context: ManagementContext,
  project: Project,
  definition: Definition,
  check?: CheckChange,
): Promise<boolean> {
  const { kind, name } = definition
  requireValid(definition)
  const before = await change(context, project, (known) => {
    const current = known.find(isNamed(kind, name))
    check?.(current)
    const others = known.filter((one) => one !== current)
    if (others.filter((one) => one.kind === kind).length >= MAX_DEFINITIONS) {
      throw new FieldValueError('name', `a project has at most ${MAX_DEFINITIONS} ${kind}s`)
    }
    const [error] = checkDefinition(definition, others)
    if (error !== undefined) throw new FieldValueError(error.field, error.message)
    return { definition, isDeleted: false }
  })
  if (isDeepStrictEqual(before, definition)) return false
  await recordChange(context, {
    action: `${kind}.${before === undefined ? 'create' : 'update'}`,
    project,
    target: name,
    ...(before === undefined ? {} : { before: pickSettings(before) }),
    after: pickSettings(definition),
  })
  return before === undefined
}

/**
 * Deletes a goal or a segment.
 *
 * @throws MissingError for an unknown one; ConflictError for a segment that others name
 */
export async function deleteDefinition(
  context: ManagementContext,
  project: Project,
  kind: DefinitionKind,
  name: string,
  check?: CheckChange,
): Promise<void> {
  const before = await change(context, project, (known) => {
    const current = known.find(isNamed(kind, name))
    if (current === undefined) throw new MissingError(`there is no ${kind} ${name}`)
    check?.(current)
    const user = known.find(
      (one) => kind === 'segment' && listNamedSegments(one).includes(name) && one !== current,
    )
    if (user !== undefined) {
      throw new ConflictError(`the segment ${name} is used by the ${user.kind} ${user.name}`)
    }
    return { definition: { ...current, filters: [], value: null }, isDeleted: true }
  })
  if (before === undefined) return
  const action = `${kind}.delete` as const
  await recordChange(context, { action, project, target: name, before: pickSettings(before) })
}

const isNamed =
  (kind: DefinitionKind, name: string) =>
  (one: Definition): boolean =>
    one.kind === kind && one.name === name

function requireValid({ kind, name, filters, value }: Definition): void {
  if (!DEFINITION_NAME.test(name)) {
    const message = `the name of a ${kind} has letters, digits, _, . and -, at most 64, the first a letter or a digit`
    throw new FieldValueError('name', message)
  }
  if (filters.length === 0)
    throw new FieldValueError('filters', `a ${kind} has at least one filter`)
  if (value === null || (kind === 'goal' && VALUE.test(value))) return
  throw new FieldValueError(
    'value',
    'the value of a goal is event:prop: and the name of a property',
  )
}

/**
 * Changes a definition, while nobody else does. A change to the same writes nothing.
 *
 * @param decide is given all definitions of the project, and returns what one of them is from now on
 * @returns what it was before; undefined if it was not
 */
function change(
  { cluster }: ManagementContext,
  { id }: Project,
  decide: (known: readonly Definition[]) => {
    readonly definition: Definition
    readonly isDeleted: boolean
  },
): Promise<Definition | undefined> {
  const { writer } = cluster.home.store
  return withJoinedLease(writer, 'projects', id, async () => {
    const { isDeleting } = await requireProject(writer, id)
    if (isDeleting) throw new ConflictError(`the project ${id} is being deleted`)
    const versions = await listDefinitionVersions(writer, id)
    const known = versions.filter(({ isDeleted }) => !isDeleted)
    const changed = decide(known.map(({ definition }) => definition))
    const { kind, name } = changed.definition
    const isMeant = isNamed(kind, name)
    const last = versions.find(({ definition }) => isMeant(definition))
    const before = last?.isDeleted === false ? last.definition : undefined
    if (changed.isDeleted || !isDeepStrictEqual(before, changed.definition)) {
      await writeDefinition(writer, id, { ...changed, version: (last?.version ?? 0) + 1 })
    }
    return before
  })
}
