/** What the command line says if a service does not answer as a whole. */
import { expect, test } from '@jest/globals'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { askService } from '../../../../src/commands/ask/service-client.js'
import { UserError } from '../../../../src/lib/errors.js'

/** Asks a server that answers like this. */
async function ask(answer: RequestListener): Promise<unknown> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const service = { url: new URL(`http://127.0.0.1:${port}`), apiKey: 'secret' }
  try {
    return await askService(service, '/v1/project')
  } finally {
    server.close()
  }
}

test('an answer that breaks off is an error for the user', async () => {
  const asked = ask((_request, response) => {
    response.writeHead(200, { 'Content-Length': 100 })
    response.write('{"data":', () => response.destroy())
  })
  await expect(asked).rejects.toThrow(UserError)
  await expect(asked).rejects.toThrow(/^http:\/\/127\.0\.0\.1:\d+ does not respond: /)
})

test('an answer that is not JSON has no body', async () => {
  const answer = await ask((_request, response) => void response.writeHead(502).end('<html>'))
  expect(answer).toMatchObject({ status: 502, text: '<html>', body: undefined })
})
