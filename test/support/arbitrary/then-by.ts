/** Random second groupings. */
import fc from 'fast-check'
import type { GroupBy, ThenBy } from '../../../src/contract/api.js'
import type { PartialRequest } from '../world/world.js'

const omitMembers = ({ then_by: _by, group_limit: _limit, ...plain }: PartialRequest) => plain

/** Returns a request without its second grouping, and without an order by it. */
export function withoutThenBy<Request extends PartialRequest>(asked: Request): Request {
  const { then_by: [second] = [], order_by = [] } = asked
  const isOrdered = order_by.some(([field]) => field === second)
  return omitMembers(isOrdered ? { ...asked, order_by: [] } : asked) as Request
}

export const isSeries = ({ group_by }: PartialRequest): boolean =>
  group_by?.[0]?.startsWith('interval:') === true

/**
 * Adds a second grouping to one in `n` of the requests that have a first one.
 *
 * @param values the dimensions and properties that it is one of
 */
export const addThenBy =
  (values: readonly ThenBy[], oneIn: number) =>
  <Request extends PartialRequest>(given: Request): fc.Arbitrary<Request> => {
    const asked = withoutThenBy(given)
    const [first] = asked.group_by ?? []
    if (first === undefined) return fc.constant(asked)
    const others: readonly GroupBy[] = values.filter((value) => value !== first)
    const added = fc
      .record({
        second: fc.constantFrom(...(others as readonly ThenBy[])),
        limit: fc.constantFrom(undefined, 1, 2, 3, 5),
        direction: fc.constantFrom(undefined, undefined, 'asc' as const, 'desc' as const),
      })
      .map(({ second, limit, direction }) => ({
        ...asked,
        then_by: [second],
        ...(isSeries(asked) && limit !== undefined ? { group_limit: limit } : {}),
        ...(direction === undefined ? {} : { order_by: [[second, direction] as const] }),
      }))
    return fc.oneof(
      { weight: oneIn - 1, arbitrary: fc.constant(asked) },
      { weight: 1, arbitrary: added },
    )
  }
