/** Watches the disk of the store, so that events are refused before it is full. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../../clickhouse/connection.js'
import { sql, statement } from '../../clickhouse/sql.js'
import type { Store } from '../../clickhouse/store.js'
import { ApiError } from '../../contract/errors.js'
import type { Logger } from '../../lib/log.js'
import { SECOND_MS } from '../../lib/time.js'

/** The disk on which the store keeps its tables, in bytes. */
export interface DiskSpace {
  readonly free: number
  readonly total: number
}

const GIB = 1024 ** 3

/** Space that only loads, merges and deletions may use, of a disk that has it: the smaller of both. */
const RESERVE = { share: 0.05, bytes: 2 * GIB }

/** A disk that was short of space has enough again only with this multiple of the reserve, so that it does not flap. */
const RECOVERY_FACTOR = 1.2

/** Returns whether so little space is free that no more events may be taken. */
export function isShort({ free, total }: DiskSpace, wasShort = false): boolean {
  const reserve = Math.min(total * RESERVE.share, RESERVE.bytes)
  return free < reserve * (wasShort ? RECOVERY_FACTOR : 1)
}

/** Reads the space of the default disk of ClickHouse; needs no grant. */
async function readDiskSpace(
  connection: Connection,
  signal?: AbortSignal,
): Promise<DiskSpace | undefined> {
  const { rows } = await connection.query<DiskSpace>(
    statement(sql`SELECT filesystemAvailable() AS free, filesystemCapacity() AS total`),
    signal === undefined ? {} : { signal },
  )
  return rows[0]
}

/** The store has no room for the rows of an import. */
export class StoreFullError extends Error {
  override readonly name = 'StoreFullError'

  constructor(cause?: unknown) {
    super('the disk of the store is full: free some space, then import the file again', { cause })
  }
}

/** Checks that the disk has space for more. @throws StoreFullError when it has not */
export async function requireSpace({ lookups }: Pick<Store, 'lookups'>): Promise<void> {
  const space = await readDiskSpace(lookups)
  if (space !== undefined && isShort(space)) throw new StoreFullError()
}

export interface DiskWatch {
  /** Returns the free bytes as they were read last; undefined before. Asks nothing of the store. */
  readonly readFreeBytes: () => number | undefined
  /** @throws ApiError SERVICE_UNAVAILABLE while the disk is short of space */
  readonly requireSpace: () => void
  readonly stop: () => void
}

const READ_INTERVAL_MS = 3 * SECOND_MS
const READ_TIMEOUT_MS = 2 * SECOND_MS
const RETRY_AFTER_SECONDS = 30

/**
 * Starts to read the space of the disk at intervals. A store that does not answer leaves the last judgment as it is; before the
 * first one there is enough space.
 */
export function watchDisk(
  connection: Connection,
  logger: Logger,
  intervalMs = READ_INTERVAL_MS,
): DiskWatch {
  const stopped = new AbortController()
  let space: DiskSpace | undefined
  let short = false
  const read = async (): Promise<void> => {
    space = (await readDiskSpace(connection, AbortSignal.timeout(READ_TIMEOUT_MS))) ?? space
    if (space === undefined || isShort(space, short) === short) return
    short = !short
    const details = { freeBytes: space.free, totalBytes: space.total }
    if (short) logger.error(details, 'the disk of the store is almost full: events are refused')
    else logger.info(details, 'the disk of the store has space again: events are accepted')
  }
  const watch = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await read().catch(() => undefined)
      await sleep(intervalMs, undefined, { ref: false, signal: stopped.signal })
    }
  }
  watch().catch(() => undefined)
  return {
    readFreeBytes: () => space?.free,
    requireSpace: () => {
      if (short) throw createNoSpaceError()
    },
    stop: () => stopped.abort(),
  }
}

const createNoSpaceError = (): ApiError =>
  new ApiError(
    'SERVICE_UNAVAILABLE',
    'The store has no room for events right now. Wait the seconds given in Retry-After.',
    { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } },
  )
