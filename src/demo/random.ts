/** Random numbers that can be repeated: the same seed gives the same numbers on every machine. */

export interface Random {
  /** At least 0 and less than 1. */
  next(): number
  /** An integer: at least 0 and less than `bound`. */
  below(bound: number): number
  /** True with this probability, from 0 to 1. */
  chance(share: number): boolean
  /** A number of the exponential distribution: mostly small, now and then several times the mean. */
  exponential(mean: number): number
}

const GOLDEN_RATIO = 0x9e3779b9

/** Hashes numbers to 32 bits, so that neighbouring seeds give unrelated states. */
function hash(...values: readonly number[]): number {
  let bits = 0
  for (const value of values) {
    bits = Math.imul(bits ^ (value + GOLDEN_RATIO), 0x85ebca6b)
    bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
    bits ^= bits >>> 16
  }
  return bits >>> 0
}

/** Creates a generator (mulberry32) from a seed of one or more numbers. */
export function createRandom(...seed: readonly number[]): Random {
  let state = hash(...seed)
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    next,
    below: (bound) => Math.floor(next() * bound),
    chance: (share) => next() < share,
    exponential: (mean) => -mean * Math.log(1 - next()),
  }
}
