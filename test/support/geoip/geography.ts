/** A GeoIP database of the few networks that a test names. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { openGeoip, type Geoip } from '../../../src/ingest/enrichment/geoip.js'
import { buildMmdb } from './mmdb.js'

/** Opens a GeoIP database with these records. */
export async function createGeoip(networks: Parameters<typeof buildMmdb>[0]): Promise<Geoip> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'places-'))
  try {
    const file = path.join(folder, 'test.mmdb')
    await writeFile(file, buildMmdb(networks))
    return await openGeoip(file)
  } finally {
    await rm(folder, { recursive: true })
  }
}
