/** Where a ClickHouse answers, with its accounts: the same shape for an embedded engine and a server. */

/** What an account may do: `admin` migrates and stops queries, `writer` loads, `reader` only selects. */
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
}
