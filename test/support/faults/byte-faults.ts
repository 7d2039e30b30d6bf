/** Chooses the bytes at which a test harms connections. */
import type { Direction, Fault, Harm, Passed } from './byte-proxy.js'

/** The number of this run: another one each time, or FAULT_SEED to repeat a run. */
const SEED = Number(process.env['FAULT_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

/**
 * Spreads faults evenly over the bytes of both directions, from a byte that the seed chooses. Neighbours differ in their harm,
 * and in whether only the first connection is harmed. A distance of 1 harms every byte in every way.
 *
 * @param size the bytes of a healthy exchange
 * @param distance from one fault to the next, in bytes
 * @param directions both by default
 */
export function spreadFaults(
  size: Passed,
  harms: readonly Harm[],
  distance: number,
  directions: readonly Direction[] = ['request', 'response'],
): readonly Fault[] {
  return directions.flatMap((direction) => {
    const first = SEED % Math.min(distance, Math.ceil(size[direction]))
    const count = Math.ceil((size[direction] - first) / distance)
    return Array.from({ length: count }, (_, i) => i).flatMap((i) => {
      const turn = i + SEED
      const own = distance === 1 ? harms : [harms[turn % harms.length]!]
      return own.map((harm): Fault => ({
        harm,
        direction,
        after: first + i * distance,
        isOnce: turn % 3 === 0,
      }))
    })
  })
}
