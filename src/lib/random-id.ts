/** Makes the ids and tokens that the service gives out. */
import { randomInt } from 'node:crypto'

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** A random text behind a prefix, e.g. `randomId('prj_', 12)`: 5 bits and a bit more a character. */
export function randomId(prefix: string, length: number): string {
  const characters = Array.from({ length }, () => ALPHABET.charAt(randomInt(ALPHABET.length)))
  return prefix + characters.join('')
}
