/** Looks up the goals and segments that requests name: a request is resolved with what they mean when it arrives. */
import type { AnalyticsQueryRequest, Filter } from '../contract/api.js'
import { createValidationError } from '../contract/errors.js'
import { isRecord, mapRecord } from '../lib/records.js'
import { createResolver, type Definition, type Resolver } from '../model/definitions.js'
import type { AnyBody, OperationBase, ValidBody } from './operation.js'
import { applyRules } from './request/cross-field-rules.js'
import { checkFilterLimits } from './request/filter-limits.js'

type Metrics = AnalyticsQueryRequest['metrics']

/** Whether a valid body names a goal or a segment. Other bodies need no definitions. */
export function namesDefinitions(body: unknown): boolean {
  if (Array.isArray(body)) return body.some(namesDefinitions)
  if (!isRecord(body)) return false
  return body['type'] === 'segment' || 'goal' in body || Object.values(body).some(namesDefinitions)
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
  const resolved = resolveMembers(resolver, body, '')
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

/** Resolves the filters of a body and of its parts, such as the steps of a funnel, and its metrics. */
const resolveMembers = (resolver: Resolver, body: AnyBody, place: string): AnyBody =>
  mapRecord(body, (name, value): unknown => {
    const field = `${place}${name}`
    if (name === 'filters' && Array.isArray(value)) {
      return resolver.resolve(value as readonly Filter[], field)
    }
    if (name === 'metrics' && Array.isArray(value)) {
      return (value as Metrics).map((one, i) => resolveMetric(resolver, one, `${field}.${i}`))
    }
    if (isRecord(value)) return resolveMembers(resolver, value, `${field}.`)
    if (!Array.isArray(value)) return value
    return value.map((one: unknown, i) =>
      isRecord(one) ? resolveMembers(resolver, one, `${field}.${i}.`) : one,
    )
  })

/** Adds to a metric what its goal means. */
function resolveMetric(
  resolver: Resolver,
  metric: Metrics[number],
  place: string,
): Metrics[number] {
  if (typeof metric === 'string' || !('goal' in metric)) return metric
  const goal = resolver.find('goal', metric.goal, `${place}.goal`)
  if (goal === undefined) return metric
  const { value } = goal
  if (metric.metric === 'value' && value === null) {
    const message = `must be a goal that has a value, and ${metric.goal} has none`
    resolver.errors.push({ field: `${place}.goal`, message })
  }
  // What is wrong within the goal is so at its name.
  const filters = resolver.resolve(goal.filters, `${place}.goal`, [], false)
  for (const { message } of checkFilterLimits(filters)) {
    resolver.errors.push({ field: `${place}.goal`, message })
  }
  // Whatever the client has sent for them is replaced.
  const asked = Object.entries(metric).filter(([name]) => name !== 'filters' && name !== 'value')
  const meant = { filters, ...(value === null ? {} : { value }) }
  return { ...Object.fromEntries(asked), ...meant } as Metrics[number]
}
