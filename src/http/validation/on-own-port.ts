/** Serves an application to this process alone. */
import type { Express } from 'express'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Does the work while the application answers on a port of this machine that nobody else knows. */
export async function onOwnPort<Result>(
  app: Express,
  work: (address: string) => Promise<Result>,
): Promise<Result> {
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  try {
    return await work(`http://127.0.0.1:${port}`)
  } finally {
    server.close()
    server.closeAllConnections()
  }
}
