/** Chance that can be repeated: the same seed gives the same numbers, on every machine. */

export interface Random {
  /** From 0 up to, but not, 1. */
  next(): number
  /** A whole number from 0 up to, but not, `bound`. */
  below(bound: number): number
  /** True in `share` of all cases. */
  chance(share: number): boolean
  /** Mostly small, now and then several times the mean. */
  exponential(mean: number): number
}

const GOLDEN = 0x9e3779b9

/** Mixes numbers into one of 32 bits: near seeds give far results. */
export function mix(...values: readonly number[]): number {
  let hash = 0
  for (const value of values) {
    hash = Math.imul(hash ^ (value + GOLDEN), 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    hash ^= hash >>> 16
  }
  return hash >>> 0
}

/** A source of chance (the generator mulberry32). */
export function createRandom(...seed: readonly number[]): Random {
  let state = mix(...seed)
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
