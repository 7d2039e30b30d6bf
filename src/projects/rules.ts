/** Validates the fields of a project and converts them to the form in which they are stored. */
import { isIP, SocketAddress } from 'node:net'
import { domainToASCII } from 'node:url'
import { FieldValueError } from '../lib/errors.js'
import { isTimeZone } from '../lib/time-zone.js'
import type { NewProject, OwnField, ProjectChanges, StoredProject } from './project.js'

const ID = /^[A-Za-z0-9_-]{1,64}$/
const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/
const ORG = /^[A-Za-z0-9_.-]{1,64}$/
const COUNTRY = /^[A-Z]{2}$/
const MAX_NAME_LENGTH = 200
/** A hundred years. More is a typing error. */
const MAX_DAYS = 36_500

type Field = Exclude<keyof StoredProject, OwnField>

/** For each field, a function that returns the stored form of a value. */
type Rules = { readonly [F in Field]: (value: StoredProject[F]) => StoredProject[F] }

const RULES: Rules = {
  id: (id) => {
    if (ID.test(id)) return id
    throw new FieldValueError(
      'id',
      `the id ${quote(id)} is not 1 to 64 characters of A-Z, a-z, 0-9, _ and -`,
    )
  },
  org: (org) => (org === null ? null : requireOrg(org)),
  name: (name) => {
    const trimmed = name.trim()
    const hasValidLength = trimmed.length >= 1 && trimmed.length <= MAX_NAME_LENGTH
    if (hasValidLength && !/\p{C}/u.test(trimmed)) return trimmed
    throw new FieldValueError('name', `a name has 1 to ${MAX_NAME_LENGTH} printable characters`)
  },
  domain: (domain) => {
    // domainToASCII parses the host of a URL: it would cut off a path and turn 1 into 0.0.0.1.
    const isAscii = /^[\w.-]*$/.test(domain)
    const isName = /^[\p{L}\p{M}\p{N}._-]+$/u.test(domain)
    const host = isAscii ? domain.toLowerCase() : domainToASCII(domain)
    if (isName && HOST_NAME.test(host)) return host
    throw new FieldValueError(
      'domain',
      `the domain ${quote(domain)} is not a host name, such as example.com: no scheme, port or path`,
    )
  },
  timeZone: (zone) => (zone === null ? null : requireTimeZone(zone)),
  hasPublicDashboard: (value) => value,
  embedOrigins: (origins) => removeDuplicates(origins.map(normalizeOrigin)),
  excludedIps: (ips) => removeDuplicates(ips.map(normalizeAddress)),
  excludedCountries: (countries) => removeDuplicates(countries.map(requireCountry)),
  retentionDays: (days) => requireDays('retentionDays', 'a retention', days),
  keepDays: (days) => requireDays('keepDays', 'the time that data is kept', days),
}

/**
 * Returns the fields in the form in which they are stored.
 *
 * @throws FieldValueError for the first invalid field
 */
export function validateFields<Fields extends NewProject | ProjectChanges>(fields: Fields): Fields {
  const entries = Object.entries(RULES).flatMap(([field, rule]) => {
    const value = (fields as Readonly<Record<string, unknown>>)[field]
    return value === undefined ? [] : [[field, (rule as (value: unknown) => unknown)(value)]]
  })
  return Object.fromEntries(entries) as Fields
}

function requireDays(field: Field, subject: string, days: number | null): number | null {
  if (days === null) return null
  if (Number.isInteger(days) && days >= 1 && days <= MAX_DAYS) return days
  throw new FieldValueError(field, `${subject} is a whole number of days from 1 to ${MAX_DAYS}`)
}

/**
 * Returns the name of an organization.
 *
 * @throws FieldValueError when it is none
 */
export function requireOrg(org: string): string {
  if (ORG.test(org)) return org
  throw new FieldValueError(
    'org',
    `the organization ${quote(org)} is not 1 to 64 characters of A-Z, a-z, 0-9, _, . and -`,
  )
}

function requireTimeZone(zone: string): string {
  if (isTimeZone(zone)) return zone
  throw new FieldValueError(
    'timeZone',
    `the time zone ${quote(zone)} is not the name of one that is known, such as Europe/Berlin`,
  )
}

/** Returns the origin of a page as browsers write it: they compare it with that of the page around a frame. */
function normalizeOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  // An address with a path, a query or a user would allow more than it says.
  if (url !== undefined && isWeb && url.href === `${url.origin}/`) return url.origin
  throw new FieldValueError(
    'embedOrigins',
    `${quote(text)} is not the origin of a page, such as https://intranet.example: a scheme and a host, without a path`,
  )
}

/** Returns an address or a CIDR range in the one spelling in which it is stored. */
function normalizeAddress(text: string): string {
  const [address = '', bits, ...more] = text.split('/')
  const family = isIP(address)
  const maxBits = family === 4 ? 32 : 128
  const isRange = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits)
  if (family === 0 || address.includes('%') || !isRange || more.length > 0) {
    throw new FieldValueError(
      'excludedIps',
      `${quote(text)} is neither an IP address nor a range, such as 192.0.2.1 or 192.0.2.0/24`,
    )
  }
  // An IPv6 address has many spellings. The addresses of requests arrive in this one.
  const normalized = family === 4 ? address : new SocketAddress({ address, family: 'ipv6' }).address
  return bits === undefined ? normalized : `${normalized}/${Number(bits)}`
}

function requireCountry(code: string): string {
  if (COUNTRY.test(code)) return code
  throw new FieldValueError(
    'excludedCountries',
    `${quote(code)} is not a country code of ISO 3166-1 alpha-2, such as DE`,
  )
}

const removeDuplicates = (values: readonly string[]): readonly string[] => [...new Set(values)]

const quote = (value: string): string => JSON.stringify(value)
