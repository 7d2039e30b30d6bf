/** The signing keys: private ones in data folders, public ones in the store, from creation to retirement. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { KeyFileError } from '../../../src/auth/jwk.js'
import { getPrivateKeyFile } from '../../../src/auth/key-files.js'
import { openKeyring } from '../../../src/auth/keyring.js'
import { listPublicKeys, retirePublicKey } from '../../../src/auth/public-keys.js'
import {
  openSigningKey,
  retireSigningKey,
  rotateSigningKey,
} from '../../../src/auth/signing-key.js'
import { signToken } from '../../../src/auth/token.js'
import { createTokenVerifier } from '../../../src/auth/verified-tokens.js'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { sql, statement, string } from '../../../src/clickhouse/sql.js'
import { UserError } from '../../../src/lib/errors.js'
import { addDays } from '../../../src/lib/time.js'
import { withDatabase } from '../../support/store/database.js'

const NOW = new Date('2026-01-31T12:00:00Z')
const UNKNOWN_KID = 'A'.repeat(43)

const database = withDatabase()
/** The data folders of two hosts. */
let [here, elsewhere]: readonly [string, string] = ['', '']

beforeEach(async () => {
  const make = () => mkdtemp(path.join(os.tmpdir(), 'tallyhouse-keys-'))
  ;[here, elsewhere] = [await make(), await make()]
  await database.store.writer.execute(statement(sql`TRUNCATE TABLE public_keys`))
})
afterEach(() => Promise.all([here, elsewhere].map((folder) => rm(folder, { recursive: true }))))

const open = (dataDir = here, now = NOW) => openSigningKey({ store: database.store, dataDir }, now)
const rotate = (dataDir = here) => rotateSigningKey({ store: database.store, dataDir }, NOW)
const retire = (kid: string, at = NOW, dataDir = here) =>
  retireSigningKey({ store: database.store, dataDir }, kid, at, NOW)
const openRing = (reader = database.store.reader, now = NOW) => openKeyring(reader, () => now)
const storedKids = async (): Promise<readonly string[]> =>
  (await listPublicKeys(database.store.reader)).map(({ jwk }) => jwk.kid)

describe('the signing key of a data folder', () => {
  test('is created once by concurrent calls, and only its owner can read the file', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => open()))
    const { kid } = await open()
    expect(new Set(made.map((key) => key.kid))).toEqual(new Set([kid]))
    expect(await storedKids()).toEqual([kid])
    expect(await readdir(path.join(here, 'keys'))).toEqual(['signing-key.json'])
    expect((await stat(getPrivateKeyFile(here))).mode & 0o777).toBe(0o600)
  })

  test('is published again when the store lacks its public key', async () => {
    const { kid } = await open()
    await database.store.writer.execute(statement(sql`TRUNCATE TABLE public_keys`))
    await open()
    expect(await storedKids()).toEqual([kid])
  })

  test('is not created when another host has it: the error says what to do', async () => {
    await open(elsewhere)
    await expect(open()).rejects.toEqual(
      new UserError(
        `the signing key of this store is on another host, ${getPrivateKeyFile(here)} does not exist: issue keys there, copy that file here, or run "tallyhouse key rotate" for a new signing key`,
      ),
    )
    expect(await readdir(here)).toEqual([])
    const { kid } = await rotate()
    expect(await open()).toMatchObject({ kid })
  })

  test('is created when all others are retired', async () => {
    const { kid: first } = await open(elsewhere)
    await retirePublicKey(database.store, first, NOW, NOW)
    const { kid } = await open()
    expect(await storedKids()).toEqual(expect.arrayContaining([first, kid]))
  })

  test('signs nothing once it is retired', async () => {
    const { kid } = await open()
    await retirePublicKey(database.store, kid, NOW, NOW)
    await expect(open()).rejects.toEqual(
      new UserError(`the signing key ${kid} is retired: run "tallyhouse key rotate"`),
    )
    expect((await rotate()).others).toEqual([])
    expect((await open()).kid).not.toBe(kid)
  })

  test('the error of an invalid file does not quote its content', async () => {
    await open()
    await writeFile(getPrivateKeyFile(here), '{"d":"secret"')
    const failure = open()
    await expect(failure).rejects.toThrow(KeyFileError)
    await expect(failure).rejects.not.toThrow(/secret/)
  })
})

describe('rotation and retirement', () => {
  test('the former key stays valid until it is retired', async () => {
    const { kid: former } = await open()
    const { kid, others } = await rotate()
    expect(others).toEqual([
      { jwk: expect.objectContaining({ kid: former }), addedAt: NOW, retiresAt: null },
    ])
    expect(await open()).toMatchObject({ kid })
    expect(await openRing().find(former)).toBeDefined()
    await retire(former)
    const ring = openRing()
    expect(await ring.find(former)).toBeUndefined()
    expect(await ring.find(kid)).toBeDefined()
  })

  test('a key retires at a given time, which can be changed until then', async () => {
    const { kid } = await open(elsewhere)
    await retire(kid, addDays(NOW, 9))
    expect(await retire(kid, addDays(NOW, 1))).toMatchObject({ retiresAt: addDays(NOW, 1) })
    expect(await openRing().find(kid)).toBeDefined()
    expect(await openRing(undefined, addDays(NOW, 1)).find(kid)).toBeUndefined()
    await retire(kid)
    expect(await retire(kid, addDays(NOW, 5))).toMatchObject({ retiresAt: NOW })
  })

  test('an unknown key, and the one that signs, cannot be retired', async () => {
    await expect(retire(UNKNOWN_KID)).rejects.toEqual(
      new UserError(`there is no public key ${UNKNOWN_KID}`),
    )
    const { kid } = await open()
    await expect(retire(kid)).rejects.toEqual(
      new UserError(`the key ${kid} signs new API keys: run "tallyhouse key rotate" first`),
    )
  })
})

describe('a keyring', () => {
  test('finds a key as soon as the store has it, on every host', async () => {
    const ring = openRing()
    expect(await ring.find(UNKNOWN_KID)).toBeUndefined()
    const { kid } = await open()
    expect(await ring.find(kid)).toBeDefined()
    const { kid: next } = await rotate(elsewhere)
    expect(await ring.find(next)).toBeDefined()
    expect(await ring.find(kid)).toBeDefined()
  })

  test('a key in use is refused within 10 seconds of being retired or deleted, though no other key is asked for', async () => {
    const [retired, deleted] = [await open(), await rotate().then(() => open())]
    let time = 0
    const clock = () => time
    const ring = openKeyring(database.store.reader, () => NOW, clock)
    const { verify } = createTokenVerifier(ring, clock)
    const tokens = await Promise.all(
      [retired, deleted].map((key) =>
        signToken(key, { keyId: 'key_1', projectId: 'shop' }, NOW, null),
      ),
    )
    const findValid = async (): Promise<readonly string[]> => {
      const found = await Promise.all(tokens.map((token) => verify(token, NOW)))
      return tokens.filter((_, i) => found[i] !== undefined)
    }
    await ring.find(retired.kid)
    // As late as possible with these keys.
    time = 3_999
    expect(await findValid()).toEqual(tokens)
    await retirePublicKey(database.store, retired.kid, NOW, NOW)
    const isDeleted = sql`kid = ${string(deleted.kid)}`
    await database.store.writer.execute(statement(sql`DELETE FROM public_keys WHERE ${isDeleted}`))
    time = 7_998
    expect(await findValid()).toEqual(tokens)
    time = 7_999
    expect(await findValid()).toEqual([])
  })

  test('unknown ids share readings, at most four per second', async () => {
    // A busy machine may begin a reading later than the ring decides to: the ring's own times count.
    let time = 0
    const clock = (): number => (time = performance.now())
    const begun: number[] = []
    const { reader } = database.store
    const observed: Connection = {
      ...reader,
      query: (...given) => {
        begun.push(time)
        return reader.query(...given)
      },
    }
    const ring = openKeyring(observed, () => NOW, clock)
    for (let round = 0; round < 5; round++)
      await Promise.all(Array.from({ length: 50 }, (_, i) => ring.find(`${i}`)))
    expect(begun).toHaveLength(5)
    const pauses = begun.slice(1).map((at, i) => at - begun[i]!)
    // Timers may end a little early.
    expect(Math.min(...pauses)).toBeGreaterThan(240)
  })

  test('keeps its keys for a while when the store does not answer', async () => {
    const { kid } = await open()
    let isDown = false
    const { reader } = database.store
    const ring = openRing({
      ...reader,
      query: (...given) => (isDown ? Promise.reject(new Error('down')) : reader.query(...given)),
    })
    await ring.find(kid)
    isDown = true
    expect(await ring.find(kid)).toBeDefined()
    await expect(ring.find(UNKNOWN_KID)).rejects.toThrow('down')
    expect(await ring.find(kid)).toBeDefined()
    isDown = false
    expect(await ring.find(UNKNOWN_KID)).toBeUndefined()
  })
})
