/** Looks up the country, region and city of an IP address in a GeoIP database of MaxMind's file format. */
import ipaddr from 'ipaddr.js'
import { Reader, type Response } from 'mmdb-lib'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { UserError } from '../../lib/errors.js'

export interface Place {
  /** ISO 3166-1 alpha-2; empty if unknown. */
  readonly country: string
  /** ISO 3166-2, as DE-BE; empty if unknown, or if the database has no codes of regions. */
  readonly region: string
  /** In English; empty if unknown, or if the database has no cities. */
  readonly city: string
}

export interface Geoip {
  /** Never throws; text that is not an IP address has no place. */
  readonly lookup: (ip: string) => Place
  /** Identifies the content of the file and the version of this code. Places of another version are stale. */
  readonly version: string
}

const UNKNOWN: Place = { country: '', region: '', city: '' }

/** Raise it when this code returns other places for the same file. */
const CODE_VERSION = 'places 2'

/**
 * Reads a database of countries or cities, such as those of MaxMind, DB-IP, IP2Location or IPinfo, into memory.
 *
 * @throws UserError with the name of the file if it cannot be read or is not such a database
 */
export async function openGeoip(file: string): Promise<Geoip> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new UserError(`GeoIP database ${file}: cannot be read`, { cause: error })
  })
  const reader = createReader(file, bytes)
  const { databaseType, ipVersion } = reader.metadata
  const content = createHash('sha256').update(bytes).digest('hex').slice(0, 16)
  return {
    lookup: (ip) => {
      const address = normalizeAddress(ip)
      if (address === '' || (ipVersion === 4 && address.includes(':'))) return UNKNOWN
      try {
        return readPlace(reader.get(address))
      } catch {
        // The record is damaged. Loading goes on without the place.
        return UNKNOWN
      }
    },
    version: `${CODE_VERSION}, ${databaseType} ${content}`,
  }
}

function createReader(file: string, bytes: Buffer): Reader<Response> {
  const invalidFile = (cause?: unknown): UserError =>
    new UserError(`GeoIP database ${file}: is not a complete .mmdb file`, { cause })
  let reader: Reader<Response>
  try {
    reader = new Reader<Response>(bytes)
  } catch (error) {
    throw invalidFile(error)
  }
  const { databaseType, ipVersion, nodeCount, searchTreeSize } = reader.metadata
  const isValid =
    typeof databaseType === 'string' &&
    (ipVersion === 4 || ipVersion === 6) &&
    nodeCount > 0 &&
    searchTreeSize < bytes.length
  if (!isValid) throw invalidFile()
  return reader
}

/** Converts IPv4-mapped IPv6 addresses to IPv4; returns an empty string for text that is not an address. */
function normalizeAddress(ip: string): string {
  if (ipaddr.IPv4.isValidFourPartDecimal(ip)) return ip
  return ip.includes(':') && ipaddr.IPv6.isValid(ip) ? normalizeIPv6(ipaddr.IPv6.parse(ip)) : ''
}

function normalizeIPv6(address: ipaddr.IPv6): string {
  address.zoneId = ''
  return (address.isIPv4MappedAddress() ? address.toIPv4Address() : address).toString()
}

/** Codes in databases that are not countries: regions and unknown places. */
const NOT_COUNTRIES = new Set(['AP', 'EU', 'XX', 'ZZ'])

const readField = (record: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined,
    record,
  )

/** Reads the country code, the code of its largest subdivision and the city name; some databases nest them, others have flat fields. */
function readPlace(record: unknown): Place {
  const country = [
    readField(record, 'country', 'iso_code'),
    readField(record, 'country_code'),
    readField(record, 'country'),
  ].find((code) => typeof code === 'string' && /^[A-Z]{2}$/.test(code) && !NOT_COUNTRIES.has(code))
  const city = [readField(record, 'city', 'names', 'en'), readField(record, 'city')].find(
    (name) => typeof name === 'string' && name !== '-',
  )
  const subdivision = readField(record, 'subdivisions', '0', 'iso_code')
  const isKnown = typeof subdivision === 'string' && /^[A-Z0-9]{1,3}$/.test(subdivision)
  const region = country !== undefined && isKnown ? `${country as string}-${subdivision}` : ''
  return { country: (country ?? '') as string, region, city: (city ?? '') as string }
}
