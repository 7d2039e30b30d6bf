/** What random requests are compared with. */
import fc from 'fast-check'
import type { PartialRequest } from '../world/world.js'

type Compare = Pick<PartialRequest, 'compare' | 'compare_align'>

/** Comparisons that suit every period among the events of random worlds. */
const COMPARISONS: readonly Compare[] = [
  { compare: 'previous_period' },
  { compare: 'previous_year' },
  { compare: 'previous_period', compare_align: 'weekday' },
  { compare: 'previous_year', compare_align: 'weekday' },
  { compare: ['2024-01-15', '2024-04-30'] },
  { compare: ['2024-02-29T23:30:00Z', '2024-12-31T12:00:00Z'] },
]

export const comparison: fc.Arbitrary<Compare> = fc.constantFrom(...COMPARISONS)

/** Compares one in six requests. No draw is needed, so other random requests stay as they are. */
export const chooseComparison = (pick: number): Compare =>
  pick % 6 === 5 ? COMPARISONS[Math.floor(pick / 6) % COMPARISONS.length]! : {}
