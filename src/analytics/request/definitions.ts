/** Goals and segments: named filters of a project. Requests name them, and are resolved with what they mean at the moment. */
import type { AnalyticsQueryRequest, FieldError, Filter, GoalMetric } from '../../contract/api.js'
import { createValidationError } from '../../contract/errors.js'
import { isRecord } from '../../lib/records.js'
import type { AnyBody, OperationBase, ValidBody } from '../operation.js'
import { applyRules } from './cross-field-rules.js'
import { checkFilterLimits } from './filter-limits.js'

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

type Metrics = AnalyticsQueryRequest['metrics']

/** The members of bodies that name goals and segments. */
interface NamingBody extends AnyBody {
  readonly filters?: readonly Filter[]
  readonly steps?: readonly (AnyBody & { readonly filters: readonly Filter[] })[]
  readonly metrics?: Metrics
}

const namesSegment = (filter: Filter): boolean =>
  'type' in filter &&
  (filter.type === 'segment' || ('filters' in filter && filter.filters.some(namesSegment)))

/** Whether a valid body names a goal or a segment. Other bodies need no definitions. */
export function namesDefinitions(body: AnyBody): boolean {
  const { filters = [], steps = [], metrics = [] } = body as NamingBody
  return (
    [filters, ...steps.map((step) => step.filters)].flat().some(namesSegment) ||
    metrics.some((metric) => isRecord(metric) && 'goal' in metric)
  )
}

/**
 * Adds to a valid body what its goals and segments mean: `filters`, and `value` of a goal.
 *
 * @param definitions all of the project
 * @throws ApiError VALIDATION_ERROR for an unknown name, segments that name each other in a circle, or too many filters in all
 */
export function resolveDefinitions(
  operation: OperationBase<ValidBody>,
  body: AnyBody,
  definitions: readonly Definition[],
): AnyBody {
  const resolver = createResolver(definitions)
  const { filters, steps, metrics } = body as NamingBody
  const resolved = {
    ...body,
    ...(filters === undefined ? {} : { filters: resolver.resolve(filters, 'filters') }),
    ...(steps === undefined
      ? {}
      : {
          steps: steps.map((step, i) => ({
            ...step,
            filters: resolver.resolve(step.filters, `steps.${i}.filters`),
          })),
        }),
    ...(metrics === undefined
      ? {}
      : { metrics: metrics.map((metric, i) => resolveMetric(resolver, metric, `metrics.${i}`)) }),
  }
  const errors = [
    ...resolver.errors,
    // The rules have been applied to what the client has written. What it means has more filters.
    ...(resolver.errors.length > 0
      ? []
      : applyRules(operation.rules, resolved as unknown as ValidBody, new Set())),
  ]
  if (errors.length > 0) throw createValidationError(errors)
  return resolved
}

/** Finds what is wrong with a definition, beside the others of its project. */
export function checkDefinition(
  { kind, name, filters }: Definition,
  others: readonly Definition[],
): readonly FieldError[] {
  const resolver = createResolver(others)
  const resolved = resolver.resolve(filters, 'filters', kind === 'segment' ? [name] : [])
  return [...resolver.errors, ...(resolver.errors.length > 0 ? [] : checkFilterLimits(resolved))]
}

/** Lists the segments that a definition names itself. */
export const listNamedSegments = ({ filters }: Pick<Definition, 'filters'>): readonly string[] =>
  filters.flatMap((filter) => {
    if (!('type' in filter)) return []
    if (filter.type === 'segment') return [filter.value]
    return 'filters' in filter ? listNamedSegments(filter) : []
  })

interface Resolver {
  /** Adds the filters of segments. @param within the segments that the filters are of, from the outermost on */
  readonly resolve: (
    filters: readonly Filter[],
    place: string,
    within?: readonly string[],
  ) => readonly Filter[]
  readonly find: (kind: DefinitionKind, name: string, place: string) => Definition | undefined
  readonly errors: FieldError[]
}

/** How many filters are written out before a request is refused: names that stand for names may stand for very many. */
const MAX_WRITTEN = 1_000

function createResolver(definitions: readonly Definition[]): Resolver {
  const errors: FieldError[] = []
  let written = 0
  const find = (kind: DefinitionKind, name: string, place: string): Definition | undefined => {
    const own = definitions.filter((one) => one.kind === kind)
    const found = own.find((one) => one.name === name)
    if (found === undefined) errors.push({ field: place, message: describeUnknown(kind, own) })
    return found
  }
  const resolveOne = (filter: Filter, place: string, within: readonly string[]): Filter => {
    written++
    if (!('type' in filter)) return filter
    if (filter.type !== 'segment') {
      return 'filters' in filter
        ? { ...filter, filters: [...resolve(filter.filters, `${place}.filters`, within)] }
        : filter
    }
    const { type, value } = filter
    const field = within.length === 0 ? `${place}.value` : place
    if (within.includes(value)) {
      const circle = [...within, value].join(', which names ')
      errors.push({ field, message: `must not name itself: ${circle}` })
      return filter
    }
    const found = find('segment', value, field)
    if (found === undefined) return filter
    const inner = resolve(found.filters, field, [...within, value])
    return { type, value, filters: [...inner] }
  }
  const resolve: Resolver['resolve'] = (filters, place, within = []) =>
    filters.map((filter, i) => {
      if (written === MAX_WRITTEN) {
        errors.push({ field: place, message: 'names segments that have too many filters in all' })
      }
      if (written >= MAX_WRITTEN) return filter
      return resolveOne(filter, within.length === 0 ? `${place}.${i}` : place, within)
    })
  return { resolve, find, errors }
}

function describeUnknown(kind: DefinitionKind, own: readonly Definition[]): string {
  if (own.length === 0) return `must be the name of a ${kind}, and the project has none`
  return `must be the name of a ${kind} of the project, one of: ${own.map(({ name }) => name).join(', ')}`
}

/** Adds to a metric what its goal means. */
function resolveMetric(
  resolver: Resolver,
  metric: Metrics[number],
  place: string,
): Metrics[number] {
  if (typeof metric === 'string' || !('goal' in metric)) return metric
  const { filters: _filters, value: _value, ...asked } = metric
  const goal = resolver.find('goal', asked.goal, `${place}.goal`)
  if (goal === undefined) return metric
  const { value } = goal
  if (asked.metric === 'value' && value === null) {
    const message = `must be a goal that has a value, and ${asked.goal} has none`
    resolver.errors.push({ field: `${place}.goal`, message })
  }
  // What is wrong within the goal is so at its name.
  const filters = resolver.resolve(goal.filters, `${place}.goal`, [])
  for (const { message } of checkFilterLimits(filters)) {
    resolver.errors.push({ field: `${place}.goal`, message })
  }
  return { ...asked, filters: [...filters], ...(value === null ? {} : { value }) }
}
