/** The generations of leases: tables of a store on one server, rows in Keeper of a store that has replicas. */
import type { Connection } from '../connection.js'
import { LEASE_ROWS } from './lease-rows.js'
import { LEASE_TABLES } from './lease-tables.js'
import type { LeaseStore } from './lease-types.js'

export type { Generation, LeaseName } from './lease-types.js'

const getStore = ({ replica }: Connection): LeaseStore =>
  replica === undefined ? LEASE_TABLES : LEASE_ROWS

export const {
  listGenerations,
  createGeneration,
  dropGeneration,
  writeLeaseState,
  readHolderState,
  requestRelease,
  isReleaseRequested,
  dropReleaseRequests,
}: LeaseStore = {
  listGenerations: (connection, ...args) =>
    getStore(connection).listGenerations(connection, ...args),
  createGeneration: (connection, ...args) =>
    getStore(connection).createGeneration(connection, ...args),
  dropGeneration: (connection, ...args) => getStore(connection).dropGeneration(connection, ...args),
  writeLeaseState: (connection, ...args) =>
    getStore(connection).writeLeaseState(connection, ...args),
  readHolderState: (connection, ...args) =>
    getStore(connection).readHolderState(connection, ...args),
  requestRelease: (connection, ...args) => getStore(connection).requestRelease(connection, ...args),
  isReleaseRequested: (connection, ...args) =>
    getStore(connection).isReleaseRequested(connection, ...args),
  dropReleaseRequests: (connection, ...args) =>
    getStore(connection).dropReleaseRequests(connection, ...args),
}
