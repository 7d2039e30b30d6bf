/** The ports of engines that are about to start. */
import { expect, test } from '@jest/globals'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { choosePorts } from '../../../../src/clickhouse/embedded/new-endpoint.js'

async function listen(): Promise<net.Server> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}
const getPort = (server: net.Server): number => (server.address() as AddressInfo).port
const close = (server: net.Server): Promise<unknown> => once(server.close(), 'close')

test('ports on which another process listens are not chosen, and none twice', async () => {
  const [taken, first, second] = [await listen(), await listen(), await listen()]
  const [one, other] = [getPort(first), getPort(second)]
  await Promise.all([close(first), close(second)])
  const proposed = [getPort(taken), one, getPort(taken), one, other]
  expect(await choosePorts(2, () => proposed.shift() ?? 0)).toEqual([one, other])
  expect(proposed).toEqual([])
  // They are free again.
  expect(await choosePorts(1, () => one)).toEqual([one])
  await close(taken)
})
