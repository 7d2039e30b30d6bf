/** The package `@tallyhouse/client` exports events: as streams, objects and files, which are complete or an error. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import net, { type AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import {
  createTallyhouse,
  IncompleteResponseError,
  type ExportFormat,
  type ExportResponse,
} from '../../../clients/typescript/src/index.js'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { MEDIA_TYPES } from '../../../src/contract/response-formats.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { startTestService } from '../../support/world/service.js'
import { createWorld } from '../../support/world/world.js'

const NOW = new Date('2026-06-15T12:00:00Z')
const DAY = { date_range: ['2026-06-14', '2026-06-14'] } as const
const PERIOD = { from: '2026-06-14T00:00:00Z', to: '2026-06-14T23:59:59Z' }
const FORMATS = Object.keys(MEDIA_TYPES) as ExportFormat[]
/** Enough to come in several parts. */
const EVENTS = 2_000

let database: TestDatabase
let keys: TestKeys
let service: RunningService
let apiKey: string
let readKey: string
let folder: string

beforeAll(async () => {
  database = await createDatabase()
  const { store } = database
  keys = await createKeys(store)
  const project = await createWorld(
    store,
    Array.from({ length: EVENTS }, (_, i) => ({
      timestamp: new Date(Date.parse('2026-06-14T10:00:00Z') + i * 1_000).toISOString(),
      user_id: `u${i % 7}`,
      path: `/ü\u2028${i}`,
    })),
  )
  apiKey = await keys.issue(project.id, NOW, ['export'])
  readKey = await keys.issue(project.id, NOW)
  service = await startTestService({ store, now: () => NOW })
})
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-export-'))
})
afterEach(() => rm(folder, { recursive: true }))
afterAll(async () => {
  await service.stop()
  await keys.remove()
  await database.drop()
})

const connect = (options: object = {}) =>
  createTallyhouse({ url: service.address, apiKey, ...options })

/** Returns the body that the service sends. */
async function download(format: ExportFormat): Promise<Buffer> {
  const response = await fetch(`${service.address}/v1/events/export`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${apiKey}`,
      'Content-Type': 'application/json',
      Accept: MEDIA_TYPES[format],
    },
    body: JSON.stringify(DAY),
  })
  return Buffer.from(await response.arrayBuffer())
}

test.each(FORMATS)('%s: the bytes of the service, as a stream and in a file', async (format) => {
  const want = await download(format)
  const about = format === 'json' ? {} : { period: PERIOD }
  const opened = await connect().export(DAY, { format })
  if (!opened.ok) throw new Error(opened.error.message)
  const { stream, ...rest } = opened.data
  expect(rest).toEqual(about)
  expect((await buffer(stream)).equals(want)).toBe(true)

  const file = path.join(folder, `events.${format.toUpperCase()}`)
  await writeFile(file, 'what was there before')
  expect(await connect().exportToFile(DAY, file)).toEqual({ ok: true, data: about })
  expect((await readFile(file)).equals(want)).toBe(true)
  expect(await readdir(folder)).toEqual([`events.${format.toUpperCase()}`])
})

test('the events, as they arrive', async () => {
  const { data } = JSON.parse((await download('json')).toString()) as ExportResponse
  const events: unknown[] = []
  for await (const part of connect().events(DAY)) {
    if (!part.ok) throw new Error(part.error.message)
    events.push(...part.data)
  }
  expect(events).toEqual(data)
  expect(events).toHaveLength(EVENTS)
})

test('a caller that stops reading can export again', async () => {
  for (let i = 0; i < 2; i++) {
    for await (const part of connect().events(DAY)) {
      expect(part.ok).toBe(true)
      break
    }
    const opened = await connect().export(DAY)
    if (!opened.ok) throw new Error(opened.error.message)
    await opened.data.stream.cancel()
    const nowhere = path.join(folder, 'none', 'events.csv')
    await expect(connect().exportToFile(DAY, nowhere)).rejects.toThrow('ENOENT')
  }
})

test('the format of a file is that of its suffix, unless it is given', async () => {
  const file = path.join(folder, 'events.v1')
  await expect(connect().exportToFile(DAY, file)).rejects.toThrow(TypeError)
  const result = await connect().exportToFile({ ...DAY, fields: ['path'], limit: 1 }, file, {
    format: 'csv',
  })
  expect(result).toEqual({ ok: true, data: { period: PERIOD } })
  expect(await readFile(file, 'utf8')).toBe('path\r\n/ü\u2028' + '0\r\n')
})

/** Exports in all ways; returns the results, and that of the file. */
async function exportInAllWays(client: ReturnType<typeof connect>) {
  const file = path.join(folder, 'events.csv')
  await writeFile(file, 'what was there before')
  const parts = []
  for await (const part of client.events(DAY)) parts.push(part)
  const opened = await client.export(DAY, { format: 'csv' })
  const results = [await client.exportToFile(DAY, file), parts.at(-1)]
  expect(await readFile(file, 'utf8')).toBe('what was there before')
  expect(await readdir(folder)).toEqual(['events.csv'])
  return { opened, results }
}

test('a refused export is an error', async () => {
  const error = { status: 403, code: 'INSUFFICIENT_SCOPE' }
  const { opened, results } = await exportInAllWays(connect({ apiKey: readKey }))
  expect([opened, ...results]).toMatchObject(Array(3).fill({ ok: false, error }))
})

describe('a response that is not whole', () => {
  const TYPED = (type: string): string => `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\n`

  /** Answers each request with these bytes, then closes the connection. */
  async function serve(respond: (accept: string) => string) {
    const server = net.createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', (bytes) => {
        socket.end(respond(/^accept: (.+?)\r$/im.exec(bytes.toString())?.[1] ?? ''))
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }

  test.each<[string, (accept: string) => string]>([
    [
      'breaks off in a stream',
      (type) => `${TYPED(type)}Transfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n`,
    ],
    ['breaks off before its length', (type) => `${TYPED(type)}Content-Length: 9\r\n\r\n{}\n`],
    ['does not say where it ends', (type) => `${TYPED(type)}Connection: close\r\n\r\n{}\n`],
  ])('%s', async (_, respond) => {
    const { server, url } = await serve(respond)
    try {
      const { opened, results } = await exportInAllWays(connect({ url }))
      const error = { status: 0, code: 'NO_RESPONSE', cause: expect.any(IncompleteResponseError) }
      expect(results).toMatchObject(Array(2).fill({ ok: false, error }))
      if (opened.ok) {
        await expect(buffer(opened.data.stream)).rejects.toThrow(IncompleteResponseError)
      } else expect(opened).toMatchObject({ ok: false, error })
    } finally {
      server.close()
    }
  })

  test('has another type', async () => {
    const { server, url } = await serve(() => `${TYPED('text/html')}Content-Length: 3\r\n\r\n{}\n`)
    const { opened, results } = await exportInAllWays(connect({ url }))
    server.close()
    const message = expect.stringContaining('(200 OK, text/html) is not one of the service')
    const error = { status: 200, code: 'NO_RESPONSE', message }
    expect([opened, ...results]).toMatchObject(Array(3).fill({ ok: false, error }))
  })

  test.each([
    ['ends within a line', '{}\n{}', [{ ok: true, data: [{}] }]],
    ['has a line that is not JSON', '{}\n<html>\n', []],
  ])('%s', async (_, body, before) => {
    const { server, url } = await serve(
      (type) => `${TYPED(type)}Content-Length: ${body.length}\r\n\r\n${body}`,
    )
    const parts = []
    for await (const part of connect({ url }).events(DAY)) parts.push(part)
    server.close()
    const error = { code: 'NO_RESPONSE', cause: expect.any(IncompleteResponseError) }
    expect(parts).toEqual([...before, { ok: false, error: expect.objectContaining(error) }])
  })
})
