/** A client that disconnects is no error of the service: the log says so in one line, without a stack. */
import { expect, test } from '@jest/globals'
import net from 'node:net'
import { QueryCancelledError } from '../../../src/clickhouse/errors.js'
import { ApiError } from '../../../src/contract/errors.js'
import { CALLER, KEY, QUESTION, startApp, type Given } from './harness.js'

const RPC = { jsonrpc: '2.0', id: 1, method: 'tools/call' }

test.each([
  ['a query', '/v1/analytics/query', QUESTION],
  ['a batch', '/v1/analytics/batch', { queries: [{ id: 'a', body: QUESTION }] }],
  ['a tool call', '/mcp', { ...RPC, params: { name: 'query', arguments: QUESTION } }],
])('%s', async (_what, path, body) => {
  const [begun, ended] = [createSignal(), createSignal()]
  const readRows: Given['readRows'] = ({ signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        const cause = new QueryCancelledError(signal.reason)
        reject(new ApiError('QUERY_TIMEOUT', 'The query took too long.', { cause }))
        ended.give()
      })
      begun.give()
    })
  const app = await startApp({ readRows })
  const socket = net.connect(app.port, '127.0.0.1').on('error', () => undefined)
  const text = JSON.stringify(body)
  const headers = {
    Host: 'a',
    Authorization: `Bearer ${KEY}`,
    Accept: 'application/json, text/event-stream',
    'Content-Type': 'application/json',
    'Content-Length': text.length,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`)
  await begun.given
  socket.destroy()
  await ended.given
  await app.stop()
  const logged = app
    .log()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly msg: string })
  expect(logged.filter(({ msg }) => msg !== 'planned')).toEqual([
    {
      level: 'info',
      time: expect.any(String),
      requestId: expect.any(String),
      method: 'POST',
      route: path,
      status: 200,
      ms: expect.any(Number),
      keyId: CALLER.principal.keyId,
      projectId: CALLER.principal.projectId,
      msg: 'request aborted',
    },
  ])
})

function createSignal() {
  let give: () => void = () => undefined
  const given = new Promise<void>((resolve) => (give = resolve))
  return { given, give: () => give() }
}
