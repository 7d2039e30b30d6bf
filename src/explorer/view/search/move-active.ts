/** Moves through a list of options by the arrow keys. */

export type Move = 'next' | 'previous'

/**
 * Returns the option that is active after a move: after the last one comes the first, before the first one the last.
 *
 * @param active undefined while none is active
 */
export function moveActive(
  active: number | undefined,
  move: Move,
  count: number,
): number | undefined {
  if (count === 0) return undefined
  const from = active ?? (move === 'next' ? -1 : count)
  return (from + (move === 'next' ? 1 : -1) + count) % count
}
