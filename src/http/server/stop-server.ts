/** Stops a server so that every request that has arrived is answered. */
import type { Server, ServerResponse } from 'node:http'
import net, { type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from '../../lib/time.js'
import type { ShutdownSteps } from './graceful-shutdown.js'

/** How long the steps of a shutdown may take, in milliseconds. */
export interface StopTimes {
  /** New connections are still accepted while load balancers notice that the service is not ready. */
  readonly notice: number
  /** Pending requests may still finish. */
  readonly grace: number
  /** Pending requests get SERVICE_UNAVAILABLE; afterwards their connections are destroyed. */
  readonly refusal: number
}

const STOP_TIMES: StopTimes = { notice: 300, grace: 5 * SECOND_MS, refusal: 500 }

/** When nothing arrives in this many turns of the event loop, everything that was sent before has been read. */
const QUIET_TURNS = 3
/** The most turns that a server under load is waited for. */
const MAX_TURNS = 100

/** A connection that is opened during the stop is kept this long for its first request, in milliseconds. */
const FIRST_REQUEST_MS = SECOND_MS

/**
 * Prepares the stop of a server, before it listens. Returns the function that stops it:
 *
 * 1. Responses close their connections from now on, also those to requests under way. The server still accepts connections.
 * 2. After `notice` it accepts no more of them. Idle connections stay open, and a request on one is answered.
 * 3. When all requests are answered, also the first ones on connections that were opened during the stop, it closes idle
 *    connections. Requests under way may take until the end of `grace`.
 *
 * A connection that is closed while a request waits in it is reset. So before each close, the server reads what has arrived:
 * a process that was busy learns of it only after its timers have fired. What is still on its way over the network then
 * meets a closed connection, as it may at any time (RFC 9112 §9.3.1).
 */
export function prepareStop(
  server: Server,
): (steps: ShutdownSteps, times?: Partial<StopTimes>) => Promise<void> {
  const traffic = watchTraffic(server)
  return async (steps, times) => {
    const { notice, grace, refusal } = { ...STOP_TIMES, ...times }
    steps.draining()
    traffic.closeAfterResponses()
    await sleep(notice)
    await traffic.waitUntilQuiet()
    // The method of http.Server would close idle connections as well.
    const closed = new Promise<true>((resolve) =>
      net.Server.prototype.close.call(server, () => resolve(true)),
    )
    const answered = traffic.waitUntilAnswered().then(async () => {
      await traffic.waitUntilQuiet()
      traffic.closeIdle()
      return closed
    })
    if (await Promise.race([answered, sleep(grace, false, { ref: false })])) return
    steps.stopping()
    if (await Promise.race([closed, sleep(refusal, false, { ref: false })])) return
    await traffic.waitUntilQuiet()
    server.closeAllConnections()
    await closed
  }
}

interface Traffic {
  /** Lets every response that has not begun close its connection. */
  readonly closeAfterResponses: () => void
  /** Waits until no connection or request arrives. */
  readonly waitUntilQuiet: () => Promise<void>
  /** Waits until no request is under way, or to be expected soon. */
  readonly waitUntilAnswered: () => Promise<void>
  /** Closes the connections that carry no request, also those that never did. */
  readonly closeIdle: () => void
}

function watchTraffic(server: Server): Traffic {
  const sockets = new Set<Socket>()
  const responses = new Set<ServerResponse>()
  /** The connections that were opened during the stop, until their first request. */
  const expected = new Set<Socket>()
  let arrivals = 0
  let isClosing = false
  let onAnswered = (): void => undefined
  const checkAnswered = (): void => {
    if (responses.size === 0 && expected.size === 0) onAnswered()
  }
  const stopExpecting = (socket: Socket): void => {
    if (expected.delete(socket)) checkAnswered()
  }
  server.on('connection', (socket) => {
    arrivals += 1
    sockets.add(socket)
    if (isClosing) {
      expected.add(socket)
      setTimeout(stopExpecting, FIRST_REQUEST_MS, socket).unref()
    }
    socket.once('close', () => {
      sockets.delete(socket)
      stopExpecting(socket)
    })
  })
  server.prependListener('request', ({ socket }, response: ServerResponse) => {
    arrivals += 1
    responses.add(response)
    stopExpecting(socket)
    if (isClosing) closeAfter(response)
    response.once('close', () => {
      responses.delete(response)
      checkAnswered()
    })
  })
  return {
    closeAfterResponses: () => {
      isClosing = true
      responses.forEach(closeAfter)
    },
    waitUntilQuiet: async () => {
      for (let turn = 0, quiet = 0; turn < MAX_TURNS && quiet < QUIET_TURNS; turn++) {
        const before = arrivals
        await nextTurn()
        quiet = arrivals === before ? quiet + 1 : 0
      }
    },
    waitUntilAnswered: () =>
      new Promise((resolve) => {
        onAnswered = resolve
        checkAnswered()
      }),
    closeIdle: () => {
      server.closeIdleConnections()
      // A connection on which nothing has arrived counts as active for Node.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    },
  }
}

function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close')
}
