/** The public keys with which a service verifies API keys: those of the store that are not retired. */
import type { CryptoKey } from 'jose'
import { setTimeout as sleep } from 'node:timers/promises'
import { createBriefOptions } from '../clickhouse/brief-read.js'
import type { Connection } from '../clickhouse/connection.js'
import { FRESH_MS } from '../lib/lookups.js'
import { importKey } from './jwk.js'
import { isValidAt, listPublicKeys } from './public-keys.js'

export interface Keyring {
  /**
   * Finds a valid key by its id.
   *
   * @throws the error of the store when the keys cannot be read
   */
  find(kid: string): Promise<CryptoKey | undefined>
}

interface LoadedKeys {
  readonly keys: ReadonlyMap<string, CryptoKey>
  /** When the keys began to be read, in milliseconds of the clock. */
  readonly readAt: number
}

/** The time from one reading to the next. It limits the load that made-up tokens can put on the store. */
const MIN_READ_INTERVAL_MS = 250

/**
 * Opens the keyring of a store. A key that the store has is found at once, even one that was added a moment ago: an
 * unknown `kid` waits for the next reading, which all unknown ones share.
 *
 * @param clock returns milliseconds
 */
export function openKeyring(
  reader: Connection,
  now: () => Date,
  clock: () => number = () => performance.now(),
): Keyring {
  let loaded: LoadedKeys = { keys: new Map(), readAt: -Infinity }
  let lastReadAt = -Infinity
  let reading: Promise<void> | undefined
  /** The reading that has not begun yet. */
  let next: Promise<void> | undefined

  const read = async (): Promise<void> => {
    const readAt = clock()
    lastReadAt = readAt
    loaded = { keys: await readValidKeys(reader, now()), readAt }
  }
  const readAfterPause = async (): Promise<void> => {
    await reading?.catch(() => undefined)
    const pauseMs = lastReadAt + MIN_READ_INTERVAL_MS - clock()
    if (pauseMs > 0) await sleep(pauseMs)
    next = undefined
    reading = read().finally(() => (reading = undefined))
    await reading
  }
  const readNext = (): Promise<void> => (next ??= readAfterPause())

  return {
    async find(kid) {
      const askedAt = clock()
      if (askedAt - loaded.readAt >= FRESH_MS) await (reading ?? readNext())
      if (!loaded.keys.has(kid) && loaded.readAt < askedAt) await readNext()
      return loaded.keys.get(kid)
    },
  }
}

async function readValidKeys(
  reader: Connection,
  now: Date,
): Promise<ReadonlyMap<string, CryptoKey>> {
  const stored = await listPublicKeys(reader, createBriefOptions())
  const valid = stored.filter((key) => isValidAt(key, now))
  return new Map(
    await Promise.all(valid.map(async ({ jwk }) => [jwk.kid, await importKey(jwk)] as const)),
  )
}
