/** Says which column of a foreign file gives which field of an event. */
import { FIELDS } from '../../../model/event-fields.js'
import { SourceError } from './format.js'

/** What a column gives: a field of the event, or one of its properties. */
export interface Target {
  readonly kind: 'field' | 'property'
  readonly name: string
}

/** Columns by what they give, e.g. `timestamp` → `t`, `properties.plan` → `plan`. */
export type Mapping = ReadonlyMap<string, string>

/** The mapping of a file that has our names. */
export const OWN_NAMES: Mapping = new Map()

const PROPERTY = 'properties.'

/** What a name of ours stands for; undefined for any other name. */
export function targetOf(name: string): Target | undefined {
  if (FIELDS.has(name)) return { kind: 'field', name }
  const property = name.startsWith(PROPERTY) ? name.slice(PROPERTY.length) : ''
  return property === '' ? undefined : { kind: 'property', name: property }
}

/** A column of a source, by its place, and what it gives. */
export interface Taken {
  readonly place: number
  readonly column: string
  readonly target: Target
}

/**
 * The columns that are taken. A mapped column gives what the mapping says, and nothing under its own name; a
 * field that is mapped is not taken from the column of its name.
 *
 * @throws SourceError for a mapped column that is not there, for an unknown column where nothing is mapped,
 *   and for a column that is there twice.
 */
export function takeColumns(columns: readonly string[], mapping: Mapping): readonly Taken[] {
  const missing = [...mapping.values()].filter((column) => !columns.includes(column))
  if (missing.length > 0) {
    throw new SourceError(
      `has no column ${missing.join(', ')}, which --map names; it has ${columns.join(', ')}`,
    )
  }
  const unknown = columns.filter((column) => targetOf(column) === undefined)
  if (mapping.size === 0 && unknown.length > 0) {
    throw new SourceError(
      `has columns that are no field of an event: ${unknown.map((name) => name || '(no name)').join(', ')}; ` +
        'say what they are with --map <field>=<column>, which leaves out all others',
    )
  }
  const taken = columns.flatMap((column, place) =>
    targetsOf(column, mapping).map((target) => ({ place, column, target })),
  )
  const twice = taken.find(({ column, place }) => columns.indexOf(column) !== place)
  if (twice !== undefined) throw new SourceError(`has the column ${twice.column} twice`)
  return taken
}

/** What a column gives; nothing where it is left out. */
export function targetsOf(column: string, mapping: Mapping): readonly Target[] {
  const mapped = [...mapping].filter(([, from]) => from === column).map(([name]) => name)
  const names = mapped.length > 0 || mapping.has(column) ? mapped : [column]
  return names.map(targetOf).filter((target) => target !== undefined)
}
