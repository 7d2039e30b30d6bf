/** The generations of leases: tables of a store on one server, rows in Keeper of a store that has replicas. */
import type { Connection } from '../connection.js'
import { LEASE_ROWS } from './lease-rows.js'
import { LEASE_TABLES } from './lease-tables.js'
import type { LeaseStore } from './lease-types.js'

export type { Generation, LeaseName } from './lease-types.js'

/** Returns where the leases of a store are recorded. */
export const getLeaseStore = ({ replica }: Connection): LeaseStore =>
  replica === undefined ? LEASE_TABLES : LEASE_ROWS
