/** Parses the URL of a ClickHouse server: its address, account and database. */
import type { Credentials } from '../clickhouse/endpoint.js'

export interface Server {
  /** Scheme, host and port, without credentials. */
  readonly url: string
  readonly database: string
  readonly account: Credentials
}

export const SERVER_URL_FORMAT = 'http(s)://user:password@host:port/database'

/** The account that ClickHouse itself takes for a URL without a user. */
export const DEFAULT_ACCOUNT = 'default'
export const DEFAULT_DATABASE = 'tallyhouse'
/** Databases that exist on every server, for its own tables or for those of anybody. */
const SHARED_DATABASES = ['default', 'system', 'information_schema']

/** What a URL must be, for error messages. */
export const SERVER_URL_RULE = `${SERVER_URL_FORMAT}, with a database other than default, system and information_schema`

const DATABASE_PATH = /^\/(?<database>[^/]*)\/?$/
const DATABASE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

/** Whether a name can be that of a database that Tallyhouse has for itself. */
export const isOwnDatabase = (name: string): boolean =>
  DATABASE_NAME.test(name) && !SHARED_DATABASES.includes(name.toLowerCase())

/**
 * Parses a URL such as `http://user:password@host:8123/database`. User, password, port and database are
 * optional.
 *
 * @returns undefined for any other text
 */
export function parseServerUrl(text: string): Server | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const path = DATABASE_PATH.exec(url.pathname)
  if (!['http:', 'https:'].includes(url.protocol) || path === null) return undefined
  if (url.search !== '' || url.hash !== '') return undefined
  const named = path.groups?.['database'] ?? ''
  const database = named === '' ? DEFAULT_DATABASE : named
  if (!isOwnDatabase(database)) return undefined
  const username = decode(url.username)
  const password = decode(url.password)
  if (username === undefined || password === undefined) return undefined
  return {
    url: url.origin,
    database,
    account: { username: username === '' ? DEFAULT_ACCOUNT : username, password },
  }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
