/** Two web servers for tests: a site with pages, and a collector that keeps the requests to it. */
import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import express, { type Router } from 'express'
import { createTrackingRouter } from '../../../src/http/site/tracking.js'

/** A page of the site: its markup and its response headers. */
export interface WebPage {
  readonly html: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A request to the collector. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** An event as it was sent. */
export interface SentEvent {
  readonly event_id: string
  readonly name: string
  readonly [field: string]: unknown
}

export interface Listening {
  readonly url: string
  close(): Promise<void>
}

/** Listens on a free port of 127.0.0.1. */
export async function listen(listener: RequestListener): Promise<Listening> {
  const server: Server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Starts a site whose pages can be set at any time; other paths are 404. */
export async function startSite(): Promise<Listening & { readonly pages: Map<string, WebPage> }> {
  const pages = new Map<string, WebPage>()
  const listening = await listen((request, response) => {
    const page = pages.get(new URL(request.url!, 'http://site').pathname)
    response.writeHead(page === undefined ? 404 : 200, {
      'Content-Type': 'text/html; charset=utf-8',
      ...page?.headers,
    })
    response.end(page?.html)
  })
  return { ...listening, pages }
}

export interface Collector extends Listening {
  /** All requests but GETs, in the order of their arrival. */
  readonly received: Received[]
  /** The events of all requests so far. */
  events(): readonly SentEvent[]
  /** Waits until the condition holds, for a minute at most. Does not fail: the test compares the events. */
  until(condition: (events: readonly SentEvent[]) => boolean): Promise<void>
}

const WAIT_TIMEOUT_MS = 60_000

/** Starts a server with the tracking script and the routers, which keeps the events that are sent to it. */
export async function startCollector(...routers: readonly Router[]): Promise<Collector> {
  const received: Received[] = []
  const waiting = new Set<() => void>()
  const app = express()
  app.use(createTrackingRouter('tally.js'), ...routers)
  app.use(async (request, response) => {
    const { method, path, headers } = request
    if (method === 'GET') {
      response.status(404).end()
      return
    }
    received.push({ method, path, headers, body: await text(request) })
    response.status(202).end()
    for (const look of waiting) look()
  })
  const events = (): readonly SentEvent[] =>
    received.flatMap(({ body }) => (JSON.parse(body) as { events: SentEvent[] }).events)
  const until = (condition: (events: readonly SentEvent[]) => boolean): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(done, WAIT_TIMEOUT_MS)
      function done(): void {
        clearTimeout(timer)
        waiting.delete(look)
        resolve()
      }
      function look(): void {
        if (condition(events())) done()
      }
      waiting.add(look)
      look()
    })
  return { ...(await listen(app)), received, events, until }
}
