/** Goals and segments: named filters of a project, and what their names stand for. */
import type { FieldError, Filter, GoalMetric } from '../contract/api.js'

/** How many filters a request or a definition may have in all. A group or a visit counts as one, besides its filters. */
export const MAX_FILTERS = 20

export const DEFINITION_KINDS = ['goal', 'segment'] as const
export type DefinitionKind = (typeof DEFINITION_KINDS)[number]

/** A goal or a segment of a project. */
export interface Definition {
  readonly kind: DefinitionKind
  readonly name: string
  /** An event satisfies all of them. */
  readonly filters: readonly Filter[]
  /** The event property with the value of a conversion; null if there is none, and for segments. */
  readonly value: NonNullable<GoalMetric['value']> | null
}

/** Returns what a goal or a segment is defined by: a segment has no value. */
export const pickSettings = ({
  kind,
  filters,
  value,
}: Definition): Pick<Definition, 'filters'> & Partial<Pick<Definition, 'value'>> => ({
  filters,
  ...(kind === 'goal' ? { value } : {}),
})

/** Finds what is wrong with a definition, beside the others of its project. */
export function checkDefinition(
  { kind, name, filters }: Definition,
  others: readonly Definition[],
): readonly FieldError[] {
  const resolver = createResolver(others)
  resolver.resolve(filters, 'filters', kind === 'segment' ? [name] : [])
  const count = resolver.count()
  if (resolver.errors.length > 0 || count <= MAX_FILTERS) return resolver.errors
  const message = `must hold at most ${MAX_FILTERS} filters in all, and hold ${count}`
  return [{ field: 'filters', message }]
}

/** Lists the segments that a definition names itself. */
export const listNamedSegments = ({ filters }: Pick<Definition, 'filters'>): readonly string[] =>
  filters.flatMap((filter) => {
    if (!('type' in filter)) return []
    if (filter.type === 'segment') return [filter.value]
    return 'filters' in filter ? listNamedSegments(filter) : []
  })

export interface Resolver {
  /**
   * Adds the filters of segments.
   *
   * @param within the segments that the filters are of, from the outermost on
   * @param isWritten whether the place is that of the list in the request; otherwise it is that of the name of a segment
   */
  readonly resolve: (
    filters: readonly Filter[],
    place: string,
    within?: readonly string[],
    isWritten?: boolean,
  ) => readonly Filter[]
  readonly find: (kind: DefinitionKind, name: string, place: string) => Definition | undefined
  readonly errors: FieldError[]
  /** Returns how many filters were resolved, those of segments among them. */
  readonly count: () => number
}

/** How many filters are written out before a request is refused: names that stand for names may stand for very many. */
const MAX_WRITTEN = 1_000

/** Creates what looks up the goals and segments of a project. It collects what is wrong. */
export function createResolver(definitions: readonly Definition[]): Resolver {
  const errors: FieldError[] = []
  let written = 0
  const find = (kind: DefinitionKind, name: string, place: string): Definition | undefined => {
    const own = definitions.filter((one) => one.kind === kind)
    const found = own.find((one) => one.name === name)
    if (found === undefined) errors.push({ field: place, message: describeUnknown(kind, own) })
    return found
  }
  const resolveOne = (
    filter: Filter,
    place: string,
    within: readonly string[],
    isWritten: boolean,
  ): Filter => {
    written++
    if (!('type' in filter)) return filter
    if (filter.type !== 'segment') {
      return 'filters' in filter
        ? {
            ...filter,
            filters: [
              ...resolve(filter.filters, isWritten ? `${place}.filters` : place, within, isWritten),
            ],
          }
        : filter
    }
    const { type, value } = filter
    const field = isWritten ? `${place}.value` : place
    if (within.includes(value)) {
      const circle = [...within, value].join(', which names ')
      errors.push({ field, message: `must not name itself: ${circle}` })
      return filter
    }
    const found = find('segment', value, field)
    if (found === undefined) return filter
    const inner = resolve(found.filters, field, [...within, value], false)
    return { type, value, filters: [...inner] }
  }
  const resolve: Resolver['resolve'] = (filters, place, within = [], isWritten = true) =>
    filters.map((filter, i) => {
      if (written === MAX_WRITTEN) {
        errors.push({ field: place, message: 'names segments that have too many filters in all' })
      }
      if (written >= MAX_WRITTEN) return filter
      return resolveOne(filter, isWritten ? `${place}.${i}` : place, within, isWritten)
    })
  return { resolve, find, errors, count: () => written }
}

function describeUnknown(kind: DefinitionKind, own: readonly Definition[]): string {
  if (own.length === 0) return `must be the name of a ${kind}, and the project has none`
  return `must be the name of a ${kind} of the project, one of: ${own.map(({ name }) => name).join(', ')}`
}
