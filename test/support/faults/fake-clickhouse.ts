/** A server at the address of ClickHouse that answers every statement in a chosen, wrong way. */
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { WrongAnswer } from './wrong-answers.js'

export interface FakeClickHouse {
  readonly url: string
  /** Passes the statements on to the real ClickHouse, or answers them wrongly. */
  answer(how: 'rightly' | WrongAnswer): void
  stop(): Promise<void>
}

/** Starts a fake in front of the ClickHouse at `target`. At first it passes everything on. */
export async function startFakeClickHouse(target: string): Promise<FakeClickHouse> {
  let how: 'rightly' | WrongAnswer = 'rightly'
  const sockets = new Set<Socket>()
  const server = http.createServer((request, response) => {
    if (how === 'rightly') {
      pass(target, request, response)
      return
    }
    const { head, chunks, end } = how
    // The raw socket: Node would correct the length of a response.
    const { socket } = request
    request.resume().on('end', () => {
      if (head !== undefined) socket.write(head)
      for (const chunk of chunks) socket.write(chunk)
      if (end === 'FIN') socket.end()
      if (end === 'RST') socket.end(() => socket.resetAndDestroy())
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => undefined))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: (next) => {
      how = next
    },
    stop: async () => {
      sockets.forEach((socket) => socket.destroy())
      server.close()
      await once(server, 'close')
    },
  }
}

/** Passes a request on to the ClickHouse at `target`. @param body what is left of its body */
export function pass(
  target: string,
  request: http.IncomingMessage,
  response: http.ServerResponse,
  body: Readable = request,
): void {
  const { method, headers } = request
  const upstream = http.request(new URL(request.url ?? '/', target), { method, headers })
  upstream.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers)
    answer.pipe(response)
  })
  upstream.on('error', () => response.destroy())
  body.pipe(upstream)
}
