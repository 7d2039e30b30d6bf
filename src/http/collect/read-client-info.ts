/** Reads the address, the user agent and the language of the client that sends events. */
import type { Request, RequestHandler } from 'express'
import { isIP } from 'node:net'
import type { ClientInfo } from '../../ingest/collect/client-info.js'
import type { Logger } from '../../lib/log.js'

/** Longer user agents are truncated: a request may hold a thousand events, and each of them gets a copy. */
const MAX_USER_AGENT_LENGTH = 1_024

/** Reads the client's address, user agent and language. X-Forwarded-For counts as far as its proxies are trusted. */
export function readClientInfo(request: Request): Omit<ClientInfo, 'isPage'> {
  const userAgent = request.headers['user-agent']?.slice(0, MAX_USER_AGENT_LENGTH)
  return {
    ip: parseAddress(request.ip ?? ''),
    userAgent: userAgent === '' ? undefined : userAgent,
    language: parseLanguage(request.headers['accept-language'] ?? ''),
  }
}

/** A language with its script and region, as in RFC 5646, §2.1. */
const LANGUAGE = /^[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?$/i

/** Parses the first language of an Accept-Language header, which is the one that browsers prefer. Undefined if there is none. */
export function parseLanguage(header: string): string | undefined {
  const tag = /^[^,;]*/.exec(header)?.[0].trim() ?? ''
  return LANGUAGE.test(tag) ? Intl.getCanonicalLocales(tag)[0] : undefined
}

/**
 * Warns once if requests come through a proxy although none is trusted: all visitors then seem to have the address of
 * the proxy.
 */
export function warnOfProxies(trustedProxies: number, logger: Logger): RequestHandler {
  let isDone = trustedProxies > 0
  return (request, _response, next) => {
    if (!isDone && request.headers['x-forwarded-for'] !== undefined) {
      isDone = true
      logger.warn(
        'requests have the header X-Forwarded-For, but no proxy is trusted: set TRUSTED_PROXIES to the number of proxies in front of the service, or all visitors seem to have one address',
      )
    }
    next()
  }
}

const WITH_PORT = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/
const IPV4_IN_IPV6 = /^::ffff:(?=\d+\.)/i

/** Parses an IP address as proxies write it: with brackets, a port or a zone. Undefined if the text is no address. */
export function parseAddress(text: string): string | undefined {
  const [, v6, v4] = WITH_PORT.exec(text) ?? []
  const [address = ''] = (v6 ?? v4 ?? text).replace(IPV4_IN_IPV6, '').split('%')
  return isIP(address) === 0 ? undefined : address
}
