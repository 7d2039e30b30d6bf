/** Links into the explorer, for the commands that print one. */
import { UserError } from '../../lib/errors.js'

/** Replaces a wildcard address, on which a service can listen, by the loopback address, which a browser can open. */
export const toOpenable = (address: string): string =>
  address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')

/**
 * Formats a link to the explorer. The key is the fragment, which browsers do not send and which reaches no log.
 *
 * @param address scheme, host and port, e.g. `http://127.0.0.1:8080`
 */
export const formatExplorerLink = (address: string, apiKey: string): string =>
  `${address}/explore#key=${apiKey}`

/** Formats the link to the public dashboard of a project. @param address as above */
export const formatDashboardLink = (address: string, projectId: string): string =>
  `${address}/share/${projectId}`

/**
 * Returns where a service with this configuration is opened.
 *
 * @throws UserError when the system picks the port
 */
export function findAddress({
  host,
  port,
}: {
  readonly host: string
  readonly port: number
}): string {
  if (port === 0) throw new UserError('PORT is 0: name the service with --address')
  return toOpenable(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)
}
