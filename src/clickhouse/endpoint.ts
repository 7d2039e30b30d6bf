/** The address of a ClickHouse and its accounts, the same for the embedded engine and for a server. */
import type { Replica } from './replica.js'

/** `admin` migrates and kills queries, `writer` loads, `reader` only selects. */
export type Account = 'admin' | 'writer' | 'reader'

export interface Credentials {
  readonly username: string
  readonly password: string
}

export interface Endpoint {
  /** Scheme, host and port, without credentials. */
  readonly url: string
  readonly database: string
  readonly accounts: Readonly<Record<Account, Credentials>>
  /** The replica at this address, of a store that has several. */
  readonly replica?: Replica | undefined
  /** The replicas of a store that has several: statements go to the active one, and not to `url`. */
  readonly replicas?: ReplicaSet | undefined
}

/** The name of the only store of a service without a cluster. */
export const HOME = 'home'

/** A replica and where it is. */
export interface Member extends Endpoint {
  readonly replica: Replica
}

/** What a replica says of the store. */
export interface Look {
  /** The number of the last choice of an active replica, from 1, and its name; 0 and the empty string before the first choice. */
  readonly number: number
  readonly active: string
  /** How many replicas have the tables, and how many of them reach Keeper; 0 while the replica that says so has no tables. */
  readonly total: number
  readonly live: number
  /** For how many seconds events have been stored on one disk only; 0 while they are on two. */
  readonly aloneSeconds: number
}

export interface ReplicaSet {
  readonly members: readonly Member[]
  /** The path of the store in Keeper. */
  readonly path: string
  /**
   * Returns the active replica, and the signal that is aborted when another one takes over from it.
   *
   * @throws StoreUnavailableError while it has not said lately that it is the active one: its rows may be old
   */
  readonly getActive: () => { readonly member: Member; readonly left: AbortSignal }
  /** Returns the last choice that is known, however long ago. */
  readonly getLast: () => Look
  /** Lists the replicas in the order in which an insert tries them: the active one first, those that do not answer last. */
  readonly listToWrite: () => readonly Member[]
  /** Lists the replicas that answered when they were asked last, the active one first. */
  readonly listAnswering: () => readonly Member[]
  /** When the active replica was asked last and said that it is active, by `performance.now()`. */
  readonly getSeenAt: () => number
  /**
   * Takes note of a look.
   *
   * @param from the replica that was asked
   * @param begunAt when, by `performance.now()`
   * @param look undefined if it did not answer
   */
  readonly note: (from: Member, begunAt: number, look: Look | undefined) => void
  /** How many replicas must have stored an insert. */
  readonly getQuorum: () => number
  /** Returns the signal that is aborted when that number falls: what waits for more replicas waits in vain. */
  readonly getQuorumSignal: () => AbortSignal
}
