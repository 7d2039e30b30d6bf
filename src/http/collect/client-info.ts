/** Tells who sends a request: its address and agent. */
import type { Request } from 'express'
import { isIP } from 'node:net'
import type { ClientInfo } from '../../ingest/collect/client-info.js'

/** Longer agents are cut: a request may bring a thousand events, each of which gets it. */
const LONGEST_AGENT = 1_024

/** Who sends the request; behind proxies, as many of them as are trusted tell. */
export function senderOf(request: Request): ClientInfo {
  const agent = request.headers['user-agent']?.slice(0, LONGEST_AGENT)
  return {
    ip: addressIn(request.ip ?? ''),
    userAgent: agent === '' ? undefined : agent,
    isBrowser: request.headers.origin !== undefined,
  }
}

const WITH_PORT = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/
const IPV4_IN_IPV6 = /^::ffff:(?=\d+\.)/i

/** The address in a text as proxies write it: in brackets, with a port, with a zone; undefined where there is none. */
export function addressIn(text: string): string | undefined {
  const [, v6, v4] = WITH_PORT.exec(text) ?? []
  const [address = ''] = (v6 ?? v4 ?? text).replace(IPV4_IN_IPV6, '').split('%')
  return isIP(address) === 0 ? undefined : address
}
