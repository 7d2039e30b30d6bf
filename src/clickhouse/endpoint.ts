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
}

/** The name of the only store of a service without a cluster. */
export const HOME = 'home'
