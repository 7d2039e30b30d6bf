/** What the two stores of leases have in common. */
import { hostname } from 'node:os'
import type { Connection } from '../connection.js'

/** The kinds of work that only one process at a time may do on a store. */
export type LeaseName =
  'migrations' | 'projects' | 'loader' | 'rollups' | 'salts' | 'moves' | 'operations' | 'imports'

/** The states that a holder records. */
export type LeaseState = 'held' | 'released'

export interface Generation {
  readonly number: number
  /** Milliseconds since it was created. */
  readonly age: number
}

export interface HolderState {
  readonly isReleased: boolean
  /** Milliseconds since the last heartbeat, by the clock of the store. */
  readonly silence: number
  /** The process and its host; undefined before the first heartbeat. */
  readonly name: string | undefined
}

/** This process, as a person can find it. */
export const HOLDER = `process ${process.pid} on ${hostname()}`

/** Another process has taken the next generation, and the own one is gone. */
export class GenerationLostError extends Error {
  override readonly name = 'GenerationLostError'
}

/** Where the generations of leases are recorded. */
export interface LeaseStore {
  /** Lists the generations that are recorded, the newest first. */
  readonly listGenerations: (
    connection: Connection,
    name: LeaseName,
  ) => Promise<readonly Generation[]>
  /** Records a generation; returns false when it exists already. */
  readonly createGeneration: (
    connection: Connection,
    name: LeaseName,
    number: number,
  ) => Promise<boolean>
  /** Removes a generation, if it exists. */
  readonly dropGeneration: (
    connection: Connection,
    name: LeaseName,
    number: number,
  ) => Promise<void>
  /**
   * Records the holder's state, with the current time by the clock of the store.
   *
   * @throws GenerationLostError when another process has taken the lease
   */
  readonly writeLeaseState: (
    connection: Connection,
    name: LeaseName,
    number: number,
    state: LeaseState,
  ) => Promise<void>
  /** Reads the state of a generation's holder; undefined when it was removed. */
  readonly readHolderState: (
    connection: Connection,
    name: LeaseName,
    generation: Generation,
  ) => Promise<HolderState | undefined>
  /** Asks the holder of a generation to release the lease soon. The request stays until another process takes the next generation. */
  readonly requestRelease: (
    connection: Connection,
    name: LeaseName,
    number: number,
  ) => Promise<void>
  /** Returns whether anyone has asked the holder of a generation to release the lease. */
  readonly isReleaseRequested: (
    connection: Connection,
    name: LeaseName,
    number: number,
  ) => Promise<boolean>
  /** Removes the requests to the holders of generations before `number`. */
  readonly dropReleaseRequests: (
    connection: Connection,
    name: LeaseName,
    number: number,
  ) => Promise<void>
}
