/** Reads the address of a ClickHouse server, its account and database from one URL. */
import type { Credentials } from '../clickhouse/endpoint.js'

export interface Server {
  /** Scheme, host and port, without credentials. */
  readonly url: string
  readonly database: string
  readonly account: Credentials
}

export const SERVER_URL_FORM = 'http(s)://user:password@host:port/database'

/** ClickHouse's own account where a URL names none. */
const DEFAULT_ACCOUNT = 'default'
const DEFAULT_DATABASE = 'tallyhouse'
const DATABASE_PATH = /^\/(?<database>[A-Za-z_][A-Za-z0-9_]{0,63})?\/?$/

/** The server that a text of SERVER_URL_FORM names; user, password, port and database may be left out. */
export function readServerUrl(text: string): Server | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const path = DATABASE_PATH.exec(url.pathname)
  if (!['http:', 'https:'].includes(url.protocol) || path === null) return undefined
  if (url.search !== '' || url.hash !== '') return undefined
  const username = decoded(url.username)
  const password = decoded(url.password)
  if (username === undefined || password === undefined) return undefined
  return {
    url: url.origin,
    database: path.groups?.['database'] ?? DEFAULT_DATABASE,
    account: { username: username === '' ? DEFAULT_ACCOUNT : username, password },
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
