/** Serves the metrics on a port of their own, which need not be reachable for the clients of the service. */
import { createServer, type ServerResponse } from 'node:http'
import { SECOND_MS } from '../../lib/time.js'
import { bind, formatAddress } from './listen.js'

interface MetricsServerOptions {
  readonly host: string
  /** 0 lets the system choose a free port. */
  readonly port: number
  readonly contentType: string
  /** Writes the current values. It must be cheap and wait for nothing. */
  readonly write: () => Promise<string>
}

interface MetricsServer {
  /** The URL of the metrics, e.g. `http://127.0.0.1:9464/metrics`. */
  readonly address: string
  /** Closes all connections. */
  stop(): Promise<void>
}

const PATH = '/metrics'
/** One server scrapes a service; a few more may look at it. */
const MAX_CONNECTIONS = 20
const TIMEOUT_MS = 5 * SECOND_MS

/**
 * Starts the server of the metrics.
 *
 * @throws the operating system's error, such as EADDRINUSE, if the address cannot be bound
 */
export async function listenForMetrics(options: MetricsServerOptions): Promise<MetricsServer> {
  const { host, port, contentType, write } = options
  const server = createServer({
    headersTimeout: TIMEOUT_MS,
    requestTimeout: TIMEOUT_MS,
    connectionsCheckingInterval: SECOND_MS,
  })
  server.maxConnections = MAX_CONNECTIONS
  server.on('request', ({ method, url }, response: ServerResponse) => {
    response.setHeader('Cache-Control', 'no-store')
    response.setHeader('Connection', 'close')
    if (url?.split('?', 1)[0] !== PATH) respond(response, 404)
    else if (method !== 'GET' && method !== 'HEAD') respond(response, 405, { Allow: 'GET, HEAD' })
    else {
      write().then(
        (text) => respond(response, 200, { 'Content-Type': contentType }, text),
        () => respond(response, 500),
      )
    }
  })
  await bind(server, host, port)
  return {
    address: formatAddress(server, host) + PATH,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function respond(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>> = {},
  text = '',
): void {
  response.writeHead(status, headers).end(text)
}
