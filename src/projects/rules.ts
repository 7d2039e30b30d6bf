/** The rules that the fields of a project keep. */
import { isIP, SocketAddress } from 'node:net'
import { domainToASCII } from 'node:url'
import { UserError } from '../lib/errors.js'
import type { NewProject, ProjectChanges, StoredProject } from './project.js'

const ID = /^[A-Za-z0-9_-]{1,64}$/
const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/
const COUNTRY = /^[A-Z]{2}$/
const NAME_LENGTH = 200
/** A hundred years: more is a slip of the hand. */
const MOST_RETENTION_DAYS = 36_500

type Field = Exclude<keyof StoredProject, 'token' | 'createdAt'>

/** For each field, the form in which a value is stored. */
type Rules = { readonly [F in Field]: (value: StoredProject[F]) => StoredProject[F] }

const RULES: Rules = {
  id: (id) => {
    if (ID.test(id)) return id
    throw new UserError(`the id ${shown(id)} is not 1 to 64 characters of A-Z, a-z, 0-9, _ and -`)
  },
  name: (name) => {
    const trimmed = name.trim()
    const fits = trimmed.length >= 1 && trimmed.length <= NAME_LENGTH
    if (fits && !/\p{C}/u.test(trimmed)) return trimmed
    throw new UserError(`a name has 1 to ${NAME_LENGTH} printable characters`)
  },
  domain: (domain) => {
    // domainToASCII reads a URL's host: it would cut off a path, and read 1 as 0.0.0.1.
    const isAscii = /^[\w.-]*$/.test(domain)
    const isName = /^[\p{L}\p{M}\p{N}._-]+$/u.test(domain)
    const host = isAscii ? domain.toLowerCase() : domainToASCII(domain)
    if (isName && HOST_NAME.test(host)) return host
    throw new UserError(
      `the domain ${shown(domain)} is not a host name, such as example.com: no scheme, port or path`,
    )
  },
  hasPublicDashboard: (value) => value,
  excludedIps: (ips) => distinct(ips.map(addresses)),
  excludedCountries: (countries) => distinct(countries.map(country)),
  retentionDays: (days) => {
    if (days === null) return null
    if (Number.isInteger(days) && days >= 1 && days <= MOST_RETENTION_DAYS) return days
    throw new UserError(`a retention is a whole number of days from 1 to ${MOST_RETENTION_DAYS}`)
  },
}

/**
 * The fields in the form in which they are stored.
 *
 * @throws UserError on the first that breaks its rule.
 */
export function checked<Fields extends NewProject | ProjectChanges>(fields: Fields): Fields {
  const entries = Object.entries(RULES).flatMap(([field, rule]) => {
    const value = (fields as Readonly<Record<string, unknown>>)[field]
    return value === undefined ? [] : [[field, (rule as (value: unknown) => unknown)(value)]]
  })
  return Object.fromEntries(entries) as Fields
}

/** An address, or a range of addresses in CIDR notation, in the one spelling in which it is stored. */
function addresses(text: string): string {
  const [address = '', bits, ...more] = text.split('/')
  const family = isIP(address)
  const longest = family === 4 ? 32 : 128
  const isRange = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= longest)
  if (family === 0 || address.includes('%') || !isRange || more.length > 0) {
    throw new UserError(
      `${shown(text)} is neither an IP address nor a range, such as 192.0.2.1 or 192.0.2.0/24`,
    )
  }
  // An IPv6 address has many spellings; stored is the one that addresses of requests come in.
  const spelled = family === 4 ? address : new SocketAddress({ address, family: 'ipv6' }).address
  return bits === undefined ? spelled : `${spelled}/${Number(bits)}`
}

function country(code: string): string {
  if (COUNTRY.test(code)) return code
  throw new UserError(`${shown(code)} is not a country code of ISO 3166-1 alpha-2, such as DE`)
}

const distinct = (values: readonly string[]): readonly string[] => [...new Set(values)]

const shown = (value: string): string => JSON.stringify(value)
