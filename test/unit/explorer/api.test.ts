/** How the page asks: all queries at once, in as few batches as the contract allows. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connectApi } from '../../../src/explorer/client/api.js'
import type { Query } from '../../../src/explorer/client/contract.js'

interface Batch {
  readonly queries: readonly { readonly id: string }[]
}

/** The sizes of the batches that the server received. */
const sizes: number[] = []
let server: Server
beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (part: string) => (body += part))
    request.on('end', () => {
      const { queries } = JSON.parse(body) as Batch
      sizes.push(queries.length)
      response.setHeader('Content-Type', 'application/x-ndjson')
      response.end(queries.map(({ id }) => JSON.stringify({ id, status: 200 })).join('\n') + '\n')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

const listQueries = (count: number): readonly Query[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `q${i}`,
    operation: 'query',
    body: { date_range: 'today' },
  }))

test.each<[number, readonly number[]]>([
  [1, [1]],
  [20, [20]],
  [21, [1, 20]],
  [45, [5, 20, 20]],
])('%d queries', async (count, want) => {
  sizes.length = 0
  const { port } = server.address() as AddressInfo
  const api = connectApi({ base: `http://127.0.0.1:${port}`, key: 'key' })
  const queries = listQueries(count)
  const ids: string[] = []
  for await (const results of api.ask(queries, new AbortController().signal)) {
    ids.push(...results.map(({ id }) => id))
  }
  expect(ids).toEqual(queries.map(({ id }) => id))
  expect(sizes.toSorted((a, b) => a - b)).toEqual(want)
})
