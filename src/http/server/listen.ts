/** Runs the HTTP server with time limits. */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Logger } from '../../lib/log.js'
import { SECOND_MS } from '../../lib/time.js'
import { respondToClientErrors } from './client-errors.js'
import type { ShutdownSteps } from './graceful-shutdown.js'
import { prepareStop, type StopTimes } from './stop-server.js'

/** How long receiving a request and sending a response may take, in milliseconds. Handlers have limits of their own. */
export interface HttpTimeouts {
  readonly headers: number
  readonly request: number
  /** How long a client may pause while it reads its response. */
  readonly stall: number
  /** Longer than load balancers keep idle connections, so that they never send on one that is being closed. */
  readonly keepAlive: number
}

const TIMEOUTS: HttpTimeouts = {
  headers: 10 * SECOND_MS,
  request: 15 * SECOND_MS,
  stall: 30 * SECOND_MS,
  keepAlive: 65 * SECOND_MS,
}

/** Each connection takes memory and a file descriptor, even before it sends a request. */
const MAX_CONNECTIONS = 10_000

interface ListenOptions {
  readonly host: string
  /** 0 lets the system choose a free port. */
  readonly port: number
  readonly logger: Logger
  readonly timeouts?: Partial<HttpTimeouts>
  /** Connections beyond are closed as soon as they are opened. */
  readonly maxConnections?: number
  /** Called with the error code of each request that Node.js could not read. */
  readonly onMalformedRequest?: (errorCode: string) => void
}

interface HttpServer {
  /** The URL of the server, e.g. `http://127.0.0.1:8080`. */
  readonly address: string
  /** Hands all further requests to another application. Connections stay open. */
  readonly replaceApp: (app: RequestListener) => void
  /** Stops the server, and calls each of `steps` when that step begins. */
  readonly stop: (steps: ShutdownSteps, times?: Partial<StopTimes>) => Promise<void>
}

/**
 * Starts a server.
 *
 * @throws the operating system's error, such as EADDRINUSE, if the address cannot be bound
 */
export async function listen(app: RequestListener, options: ListenOptions): Promise<HttpServer> {
  const timeouts = { ...TIMEOUTS, ...options.timeouts }
  let currentApp = app
  const server = createServer({
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    keepAliveTimeout: timeouts.keepAlive,
    connectionsCheckingInterval: Math.min(SECOND_MS, timeouts.headers / 2),
    maxHeaderSize: 16 * 1024,
    // enforceHttpConformance checks Host; Node would respond with an empty body.
    requireHostHeader: false,
  })
  // enforceHttpConformance limits them. Node 20 would drop the rest, and later versions would answer as if
  // the headers were too large.
  server.maxHeadersCount = 0
  server.maxConnections = options.maxConnections ?? MAX_CONNECTIONS
  server.on('request', (request, response) => {
    response.once('prefinish', () => request.socket.setTimeout(timeouts.stall))
    currentApp(request, response)
  })
  respondToClientErrors(server, options.logger, options.onMalformedRequest)
  const stop = prepareStop(server)
  await bind(server, options.host, options.port)
  return {
    address: formatAddress(server, options.host),
    replaceApp: (next) => {
      currentApp = next
    },
    stop,
  }
}

/** Binds a server to its address; rejects with the operating system's error. */
export function bind(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** Returns the URL of a server that listens. */
export function formatAddress(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
