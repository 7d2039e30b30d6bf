/** Random further groupings. */
import fc from 'fast-check'
import type { GroupBy, ThenBy } from '../../../src/contract/api.js'
import type { PartialRequest } from '../world/world.js'

const omitMembers = ({ then_by: _by, group_limit: _limit, ...plain }: PartialRequest) => plain

/** Returns a request without its further groupings, and without an order by one of them. */
export function withoutThenBy<Request extends PartialRequest>(asked: Request): Request {
  const { then_by: further = [], order_by = [] } = asked
  const isOrdered = order_by.some(([field]) => further.some((token) => token === field))
  return omitMembers(isOrdered ? { ...asked, order_by: [] } : asked) as Request
}

export const isSeries = ({ group_by }: PartialRequest): boolean =>
  group_by?.[0]?.startsWith('interval:') === true

/**
 * Adds further groupings to one in `oneIn` of the requests that have a first one: mostly one, up to three.
 *
 * @param values the dimensions and properties that they are among
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
        further: fc.shuffledSubarray(others as ThenBy[], { minLength: 3, maxLength: 3 }),
        count: fc.constantFrom(1, 1, 1, 2, 3),
        limit: fc.constantFrom(undefined, 1, 2, 3, 5),
        direction: fc.constantFrom(undefined, undefined, 'asc' as const, 'desc' as const),
      })
      .map(({ further, count, limit, direction }) => ({
        ...asked,
        then_by: further.slice(0, count),
        ...(isSeries(asked) && limit !== undefined ? { group_limit: limit } : {}),
        ...(direction === undefined
          ? {}
          : { order_by: [[further[count - 1]!, direction] as const] }),
      }))
    return fc.oneof(
      { weight: oneIn - 1, arbitrary: fc.constant(asked) },
      { weight: 1, arbitrary: added },
    )
  }
