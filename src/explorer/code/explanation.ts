/** How the numbers of a part were answered, in a few words. */
import type { BatchResult, Plan, RetentionPlan } from '../client/contract.js'

/** Lists the relations that a plan reads, each once, in the order of the plan. */
export function listRelations(plan: Plan | RetentionPlan): readonly string[] {
  const relations = [...findReads(plan)].map(({ relation }) => relation)
  return [...new Set(relations)]
}

/** The plans of retention, and those of new users, lie within others. */
function* findReads(value: unknown): Generator<Plan['reads'][number]> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'reads') yield* inner as Plan['reads']
    else yield* findReads(inner)
  }
}

const SOURCES = {
  hit: 'from cache',
  miss: undefined,
  coalesced: 'together with an equal question',
} as const

/** Describes how long an answer took, such as `12 ms · from cache`; empty if the service does not say. */
export function describeTiming(timing: BatchResult['timing']): string {
  if (timing === undefined) return ''
  const { milliseconds, cache } = timing
  const rounded = milliseconds < 10 ? milliseconds : Math.round(milliseconds)
  const source = cache && SOURCES[cache]
  return [`${rounded} ms`, ...(source === undefined ? [] : [source])].join(' · ')
}
