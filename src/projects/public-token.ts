/** Creates the public tokens of projects, and recognizes made-up ones without asking the store. */
import { createHash } from 'node:crypto'
import { PUBLIC_TOKEN_PREFIX as PREFIX } from '../contract/bearer.js'
import { randomId } from '../lib/random-id.js'

const RANDOM_LENGTH = 24
const CHECK_SUM_LENGTH = 6
const CHECKED = new RegExp(`^(${PREFIX}[a-z0-9]{${RANDOM_LENGTH}})([a-z0-9]{${CHECK_SUM_LENGTH}})$`)

/** Creates a token: 24 random characters, and 6 characters that follow from them. */
export function createPublicToken(): string {
  const start = randomId(PREFIX, RANDOM_LENGTH)
  return start + computeCheckSum(start)
}

/**
 * Checks a token as far as that is possible without the store. A made-up token is most likely `wrong`. Tokens of
 * projects that an earlier version created have no check sum: `none`.
 */
export function inspectToken(token: string): 'right' | 'wrong' | 'none' {
  const [, start, checkSum] = CHECKED.exec(token) ?? []
  if (start === undefined) return 'none'
  return checkSum === computeCheckSum(start) ? 'right' : 'wrong'
}

/** 36^6 is less than 2^32, so the first 32 bits of the hash suffice. */
const computeCheckSum = (start: string): string =>
  (createHash('sha256').update(start).digest().readUInt32BE() % 36 ** CHECK_SUM_LENGTH)
    .toString(36)
    .padStart(CHECK_SUM_LENGTH, '0')
