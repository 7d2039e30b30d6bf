/** The engines of one service that answer queries together: their addresses, and what they are told of each other. */
import type { Endpoint } from '../endpoint.js'
import { choosePorts, createEndpointOn } from './new-endpoint.js'

/** Where an engine is reached: over HTTP by its service, and over ClickHouse's native protocol by other engines. */
export interface EngineAddress {
  readonly endpoint: Endpoint
  readonly nativePort: number
}

/** Engines that answer a query together, by a name that they all know. */
export interface EngineGroup {
  /** A name for XML and SQL: letters, digits and `_`. */
  readonly name: string
  readonly engines: readonly EngineAddress[]
}

/** An engine that has others beside it. Its address is known before it starts, because theirs must know it. */
export interface EngineMember extends EngineAddress {
  /** All groups, also those that it is not in. */
  readonly groups: readonly EngineGroup[]
}

/** Creates addresses for engines that are about to start. All ports differ, and nothing listens on them yet. */
export async function createAddresses(count: number): Promise<readonly EngineAddress[]> {
  const ports = await choosePorts(2 * count)
  return ports
    .slice(0, count)
    .map((port, i) => ({ endpoint: createEndpointOn(port), nativePort: ports[count + i] ?? 0 }))
}

/** Returns the port of an endpoint on this machine. */
export const getPort = ({ url }: Endpoint): number => Number(new URL(url).port)

/** Returns the part of config.xml that names the groups. Engines ask each other as the account for queries. */
export const buildRemoteServersXml = (groups: readonly EngineGroup[]): string => `
  <remote_servers>${groups.map(buildGroupXml).join('')}
  </remote_servers>`

const buildGroupXml = ({ name, engines }: EngineGroup): string => `
    <${name}>${engines.map(buildShardXml).join('')}
    </${name}>`

const buildShardXml = ({ endpoint, nativePort }: EngineAddress): string => {
  const { username, password } = endpoint.accounts.reader
  return `
      <shard><replica>
        <host>${new URL(endpoint.url).hostname}</host><port>${nativePort}</port>
        <user>${username}</user><password>${password}</password>
      </replica></shard>`
}
