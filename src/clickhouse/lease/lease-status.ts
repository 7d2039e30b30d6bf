/** Reports who holds a lease, without taking it. */
import type { Connection } from '../connection.js'
import { EXPIRY_MS } from './lease.js'
import { getLeaseStore, type LeaseName } from './lease-store.js'

/**
 * `free`: nobody holds the lease; `held`: a process holds it and has renewed it lately; `expired`: the process that held
 * it has not released it, and has not renewed it for so long that others may take it.
 */
export type LeaseStatus =
  | { readonly state: 'free' }
  | {
      readonly state: 'held' | 'expired'
      /** The process and its host; undefined for a moment after it took the lease. */
      readonly holder: string | undefined
      /** Milliseconds since the holder renewed the lease, by the clock of the store. */
      readonly silence: number
    }

/** Reads the state of a lease. Writes nothing. */
export async function readLeaseStatus(
  connection: Connection,
  name: LeaseName,
): Promise<LeaseStatus> {
  const [newest] = await getLeaseStore(connection).listGenerations(connection, name)
  if (newest === undefined) return { state: 'free' }
  const last = await getLeaseStore(connection).readHolderState(connection, name, newest)
  if (last === undefined || last.isReleased) return { state: 'free' }
  const { silence, name: holder } = last
  return { state: silence > EXPIRY_MS ? 'expired' : 'held', holder, silence }
}
