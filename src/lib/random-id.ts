/** Generates ids and tokens. */
import { randomInt } from 'node:crypto'

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** Returns a prefix and random characters, e.g. `randomId('prj_', 12)`; each character has log2(36) ≈ 5.2 bits of entropy. */
export function randomId(prefix: string, length: number): string {
  const characters = Array.from({ length }, () => ALPHABET.charAt(randomInt(ALPHABET.length)))
  return prefix + characters.join('')
}
