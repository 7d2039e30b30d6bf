/** Listens for HTTP within limits, and stops without breaking an answer. */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../lib/log.js'
import type { StopSteps } from './graceful-shutdown.js'
import { answerRefusals } from './client-errors.js'
import { MAX_HEADERS } from './http-conformance.js'

const SECOND = 1_000

/** How long requests and answers may take on the wire; the work between is limited elsewhere. */
export interface WireTimeouts {
  readonly headers: number
  readonly request: number
  /** The longest pause of a client in reading its answer. */
  readonly stall: number
  /** Longer than load balancers keep idle connections, so that they never send into a closing one. */
  readonly keepAlive: number
}

const TIMEOUTS: WireTimeouts = {
  headers: 10 * SECOND,
  request: 15 * SECOND,
  stall: 30 * SECOND,
  keepAlive: 65 * SECOND,
}

/** How long stopping may take, in its three steps. */
export interface StopTimes {
  /** Connections are still accepted: until balancers and clients have heard of the end. */
  readonly notice: number
  /** Requests may still be answered. */
  readonly grace: number
  /** What is unanswered is refused, and then cut off. */
  readonly refusal: number
}

const STOP_TIMES: StopTimes = { notice: 300, grace: 5 * SECOND, refusal: 500 }

export interface ListenOptions {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly logger: Logger
  readonly timeouts?: Partial<WireTimeouts>
}

export interface Listening {
  /** Where the server answers, e.g. `http://127.0.0.1:8080`. */
  readonly address: string
  /** Stops; each of the steps is called as it begins. */
  stop(steps: StopSteps, times?: Partial<StopTimes>): Promise<void>
}

/**
 * Listens.
 *
 * @throws the error of the operating system, with its code, when the address cannot be had.
 */
export async function listen(app: RequestListener, options: ListenOptions): Promise<Listening> {
  const timeouts = { ...TIMEOUTS, ...options.timeouts }
  const server = createServer({
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    keepAliveTimeout: timeouts.keepAlive,
    connectionsCheckingInterval: Math.min(SECOND, timeouts.headers / 2),
    maxHeaderSize: 16 * 1024,
    // The app checks this one, as Node would answer without a body.
    requireHostHeader: false,
  })
  // One more than is allowed, so that the app can see that there are too many.
  server.maxHeadersCount = MAX_HEADERS + 1
  server.on('request', (request, response) => {
    response.once('prefinish', () => request.socket.setTimeout(timeouts.stall))
    app(request, response)
  })
  answerRefusals(server, options.logger)
  await bind(server, options.host, options.port)
  return {
    address: addressOf(server, options.host),
    stop: (steps, times) => stop(server, steps, { ...STOP_TIMES, ...times }),
  }
}

function bind(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function addressOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

async function stop(server: Server, steps: StopSteps, times: StopTimes): Promise<void> {
  steps.draining()
  await sleep(times.notice)
  const closed = new Promise<true>((resolve) => server.close(() => resolve(true)))
  server.closeIdleConnections()
  if (await Promise.race([closed, sleep(times.grace, false, { ref: false })])) return
  steps.stopping()
  await Promise.race([closed, sleep(times.refusal, false, { ref: false })])
  server.closeAllConnections()
  await closed
}
