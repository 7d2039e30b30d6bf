/** The country and city of an address, out of a GeoIP database in MaxMind's file format. */
import ipaddr from 'ipaddr.js'
import { Reader, type Response } from 'mmdb-lib'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { UserError } from '../../lib/errors.js'

export interface Place {
  /** ISO 3166-1 alpha-2; empty where it is not known. */
  readonly country: string
  /** In English; empty where it is not known, or the database has no cities. */
  readonly city: string
}

export interface Geoip {
  /** Never throws for what is no address: that has no place. */
  readonly lookup: (ip: string) => Place
  /** Names the file by its content, and these rules: what was derived by another is to be derived anew. */
  readonly version: string
}

const NOWHERE: Place = { country: '', city: '' }

/** To be raised when the same file would give other places. */
const RULES = 'places 1'

/**
 * Opens a database of countries or cities, as those of MaxMind, DB-IP, IP2Location or IPinfo, and reads all of it
 * into memory.
 *
 * @throws UserError that names the file, where it cannot be read or is no such database.
 */
export async function openGeoip(file: string): Promise<Geoip> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new UserError(`GeoIP database ${file}: cannot be read`, { cause: error })
  })
  const reader = readerOf(file, bytes)
  const { databaseType, ipVersion } = reader.metadata
  const content = createHash('sha256').update(bytes).digest('hex').slice(0, 16)
  return {
    lookup: (ip) => {
      const address = plainAddress(ip)
      if (address === '' || (ipVersion === 4 && address.includes(':'))) return NOWHERE
      try {
        return placeIn(reader.get(address))
      } catch {
        // A record that is damaged inside tells nothing; no event waits for a better file.
        return NOWHERE
      }
    },
    version: `${RULES}, ${databaseType} ${content}`,
  }
}

function readerOf(file: string, bytes: Buffer): Reader<Response> {
  const unfit = (cause?: unknown): UserError =>
    new UserError(`GeoIP database ${file}: is no whole .mmdb file`, { cause })
  let reader: Reader<Response>
  try {
    reader = new Reader<Response>(bytes)
  } catch (error) {
    throw unfit(error)
  }
  const { databaseType, ipVersion, nodeCount, searchTreeSize } = reader.metadata
  const sound = [
    typeof databaseType === 'string',
    ipVersion === 4 || ipVersion === 6,
    nodeCount > 0,
  ]
  if (!sound.every(Boolean) || searchTreeSize >= bytes.length) throw unfit()
  return reader
}

/** IPv4 that is written as IPv6 is IPv4; what is no address is empty. */
function plainAddress(ip: string): string {
  if (ipaddr.IPv4.isValidFourPartDecimal(ip)) return ip
  return ip.includes(':') && ipaddr.IPv6.isValid(ip) ? plainIPv6(ipaddr.IPv6.parse(ip)) : ''
}

function plainIPv6(address: ipaddr.IPv6): string {
  address.zoneId = ''
  return (address.isIPv4MappedAddress() ? address.toIPv4Address() : address).toString()
}

/** Codes that databases give where no country is meant. */
const NO_COUNTRY = new Set(['AP', 'EU', 'XX', 'ZZ'])

const field = (record: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined,
    record,
  )

/** The fields where databases keep a country's code and a city's name, some in layers and some flat. */
function placeIn(record: unknown): Place {
  const country = [
    field(record, 'country', 'iso_code'),
    field(record, 'country_code'),
    field(record, 'country'),
  ].find((code) => typeof code === 'string' && /^[A-Z]{2}$/.test(code) && !NO_COUNTRY.has(code))
  const city = [field(record, 'city', 'names', 'en'), field(record, 'city')].find(
    (name) => typeof name === 'string' && name !== '-',
  )
  return { country: (country ?? '') as string, city: (city ?? '') as string }
}
