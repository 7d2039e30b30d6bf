/**
 * Refuses requests of web pages. The protocol demands a check of `Origin`, against pages that make a browser talk to a server
 * on its own machine (DNS rebinding). API keys belong on servers, so no origin is allowed. Other clients send no `Origin`.
 */
import type { RequestHandler } from 'express'

const FORBIDDEN = 403
/** An error of the server, by JSON-RPC 2.0 §5.1. */
const SERVER_ERROR = -32_000

/** Answers a request that has an `Origin` with 403 and an error of the protocol. */
export const refusePages: RequestHandler = (request, response, next) => {
  if (request.headers.origin === undefined) {
    next()
    return
  }
  const error = { code: SERVER_ERROR, message: 'Web pages cannot use this service.' }
  response.status(FORBIDDEN).json({ jsonrpc: '2.0', error, id: null })
}
