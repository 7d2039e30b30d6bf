/** Maps the columns of a source to the fields and properties of an event. */
import { FIELDS } from '../../../model/event-fields.js'
import { SourceError } from './format.js'

/** The part of an event that a column fills. */
export interface Target {
  readonly kind: 'field' | 'property'
  readonly name: string
}

/** The column of each mapped target, by the target's name, e.g. `timestamp` → `t`, `properties.plan` → `plan`. */
export type Mapping = ReadonlyMap<string, string>

/** For sources whose columns have the names of event fields. */
export const NO_MAPPING: Mapping = new Map()

const PROPERTY = 'properties.'

/** Parses `<field>` or `properties.<name>`; returns undefined for any other name. */
export function parseTarget(name: string): Target | undefined {
  if (FIELDS.has(name)) return { kind: 'field', name }
  const property = name.startsWith(PROPERTY) ? name.slice(PROPERTY.length) : ''
  return property === '' ? undefined : { kind: 'property', name: property }
}

/** A column of a source, and one target that it fills. */
export interface ColumnBinding {
  /** The position of the column, counted from 0. */
  readonly index: number
  readonly column: string
  readonly target: Target
}

/**
 * Binds columns to targets. A mapped column fills the targets it is mapped to, and not the field of its own name. A
 * mapped field is filled from its mapped column, and not from the column of its own name.
 *
 * @throws SourceError if a mapped column is missing, if a column is unknown and nothing is mapped, or if a bound
 *   column occurs twice
 */
export function bindColumns(
  columns: readonly string[],
  mapping: Mapping,
): readonly ColumnBinding[] {
  const missing = [...mapping.values()].filter((column) => !columns.includes(column))
  if (missing.length > 0) {
    throw new SourceError(
      `has no column ${missing.join(', ')}, which --map names; it has ${columns.join(', ')}`,
    )
  }
  const unknown = columns.filter((column) => parseTarget(column) === undefined)
  if (mapping.size === 0 && unknown.length > 0) {
    throw new SourceError(
      `has columns that are not fields of an event: ${unknown.map((name) => name || '(no name)').join(', ')}; ` +
        'map them with --map <field>=<column>, which leaves out all others',
    )
  }
  const bindings = columns.flatMap((column, index) =>
    findTargets(column, mapping).map((target) => ({ index, column, target })),
  )
  const repeated = bindings.find(({ column, index }) => columns.indexOf(column) !== index)
  if (repeated !== undefined) throw new SourceError(`has the column ${repeated.column} twice`)
  return bindings
}

/** Finds the targets that a column fills; none if the column is left out. */
export function findTargets(column: string, mapping: Mapping): readonly Target[] {
  const mapped = [...mapping].filter(([, from]) => from === column).map(([name]) => name)
  const names = mapped.length > 0 || mapping.has(column) ? mapped : [column]
  return names.map(parseTarget).filter((target) => target !== undefined)
}
