import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openGeoip, type Geoip } from '../../../../src/ingest/enrichment/geoip.js'
import { buildMmdb } from '../../../support/geoip/mmdb.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'places-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function open(bytes: Buffer | string): Promise<Geoip> {
  const file = path.join(folder, 'test.mmdb')
  await writeFile(file, bytes)
  return openGeoip(file)
}

const CITIES = {
  '192.0.2.0/24': {
    country: { iso_code: 'DE', names: { en: 'Germany', de: 'Deutschland' } },
    subdivisions: [{ iso_code: 'BY', names: { en: 'Bavaria' } }, { iso_code: '091' }],
    city: { names: { de: 'München', en: 'Munich' } },
  },
  '198.51.100.7/32': { country: { iso_code: 'FR' }, city: { names: { fr: 'Nantes' } } },
  '2001:db8::/32': { country: { iso_code: 'JP' }, city: { names: { en: 'Ōtsu' } } },
}
const MUNICH = { country: 'DE', region: 'DE-BY', city: 'Munich' }
/** What a database without codes of regions knows. */
const ONLY_MUNICH = { ...MUNICH, region: '' }
const NOWHERE = { country: '', region: '', city: '' }

test.each([
  ['192.0.2.0', MUNICH],
  ['192.0.2.255', MUNICH],
  ['::ffff:192.0.2.1', MUNICH],
  ['::FFFF:c000:0201', MUNICH],
  ['192.0.3.0', NOWHERE],
  ['198.51.100.7', { country: 'FR', region: '', city: '' }],
  ['198.51.100.8', NOWHERE],
  ['2001:db8::1', { country: 'JP', region: '', city: 'Ōtsu' }],
  ['2001:0DB8:0:0:0:0:0:1', { country: 'JP', region: '', city: 'Ōtsu' }],
  ['2001:db8::1%eth0', { country: 'JP', region: '', city: 'Ōtsu' }],
  ['2001:db9::1', NOWHERE],
  ['::1', NOWHERE],
  ['', NOWHERE],
  ['-', NOWHERE],
  ['192.0.2', NOWHERE],
  ['192.0.2.256', NOWHERE],
  ['0xc0000201', NOWHERE],
  ['192.0.2.1:80', NOWHERE],
  [' 192.0.2.1', NOWHERE],
  [':', NOWHERE],
  ['shop.example', NOWHERE],
])('%s is in %j', async (ip, place) => {
  expect((await open(buildMmdb(CITIES))).lookup(ip)).toEqual(place)
})

test.each([
  ['countries alone', { country: { iso_code: 'DE' } }, { country: 'DE', region: '', city: '' }],
  ['flat, with codes', { country_code: 'DE', city: 'Munich' }, ONLY_MUNICH],
  ['flat, with names', { country: 'Germany', country_code: 'DE', city: 'Munich' }, ONLY_MUNICH],
  ['flat, a code for a name', { country: 'DE', city: 'Munich' }, ONLY_MUNICH],
  ['dashes', { country: { iso_code: '-' }, city: { names: { en: '-' } } }, NOWHERE],
  ['a region without a country', { subdivisions: [{ iso_code: 'BY' }] }, NOWHERE],
  [
    'regions with names alone',
    { country: { iso_code: 'DE' }, subdivisions: [{ names: { en: 'Bavaria' } }] },
    { country: 'DE', region: '', city: '' },
  ],
  ['no country', { country: { iso_code: 'ZZ' } }, NOWHERE],
  ['a continent', { country_code: 'EU' }, NOWHERE],
  ['networks', { autonomous_system_number: 64496, is_anycast: true, hosts: ['a'] }, NOWHERE],
  ['text', 'somewhere', NOWHERE],
])('a database of %s', async (_, record, place) => {
  expect((await open(buildMmdb({ '192.0.2.0/24': record }))).lookup('192.0.2.1')).toEqual(place)
})

test('an IPv4 database has no places for IPv6 addresses', async () => {
  const places = await open(buildMmdb({ '0.0.0.0/1': CITIES['192.0.2.0/24'] }, { ipVersion: 4 }))
  const ips = ['1.2.3.4', '::ffff:1.2.3.4', '200.0.0.1', '2001:db8::1', '::1']
  expect(ips.map((ip) => places.lookup(ip).city)).toEqual(['Munich', 'Munich', '', '', ''])
})

test('lookup() never throws, whatever the text', async () => {
  const { lookup } = await open(buildMmdb(CITIES))
  const part = fc.constantFrom(':', '::', '.', '192', '0', 'ffff', '2001:db8', '%', '/', 'x', ' ')
  const texts = fc.oneof(
    ...[fc.string({ unit: 'binary' }), fc.ipV4(), fc.ipV6()],
    fc.array(part).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(texts, (ip) => {
      const text: unknown = expect.any(String)
      expect(lookup(ip)).toEqual({ country: text, region: text, city: text })
    }),
  )
})

test('the version identifies the content', async () => {
  const { version } = await open(buildMmdb(CITIES))
  expect(version).toMatch(/^places 2, Test-City [0-9a-f]{16}$/)
  expect((await open(buildMmdb(CITIES))).version).toBe(version)
  expect((await open(buildMmdb({ '192.0.2.0/24': 'x' }))).version).not.toBe(version)
})

const whole = buildMmdb(CITIES)
test.each([
  ['empty', Buffer.alloc(0)],
  ['text', Buffer.from('ip,country\n192.0.2.0,DE\n')],
  ['zeros', Buffer.alloc(100_000)],
  ['without its end', whole.subarray(0, -100)],
  ['without its beginning', whole.subarray(whole.length - 250)],
  ['an end that says little', Buffer.from('\xab\xcd\xefMaxMind.com\xe0', 'latin1')],
])('a file that is not a database is an error: %s', async (_, bytes) => {
  const file = path.join(folder, 'test.mmdb')
  await expect(open(bytes)).rejects.toMatchObject({
    name: 'UserError',
    message: `GeoIP database ${file}: is not a complete .mmdb file`,
  })
})

test('the error of a missing file names it', async () => {
  const file = path.join(folder, 'missing.mmdb')
  await expect(openGeoip(file)).rejects.toMatchObject({
    name: 'UserError',
    message: `GeoIP database ${file}: cannot be read`,
  })
})
