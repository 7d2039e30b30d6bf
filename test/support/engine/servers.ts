/** Starts servers that know each other by the files of `tallyhouse cluster config`. */
import { createAddresses } from '../../../src/clickhouse/embedded/member.js'
import { buildServerFiles } from '../../../src/cluster/server-files.js'
import { startServer, type Server } from './server.js'

export interface ServerOfCluster extends Server {
  /** The name of its shard: `shard1`, `shard2`, … */
  readonly name: string
  readonly nativePort: number
}

/** Starts servers with the same accounts. @param known how many of them, from the first, know each other */
export async function startServers(
  count: number,
  known = count,
): Promise<readonly ServerOfCluster[]> {
  const addresses = await createAddresses(count)
  const [first] = addresses
  const servers = addresses.map(({ endpoint, nativePort }, i) => ({
    name: `shard${i + 1}`,
    endpoint: { ...endpoint, accounts: first!.endpoint.accounts },
    nativePort,
  }))
  const files = buildServerFiles(
    servers.slice(0, known).map(({ name, nativePort }) => ({
      name,
      host: '127.0.0.1',
      port: nativePort,
      secure: false,
    })),
    { username: 'reader', passwordVariable: 'CLICKHOUSE_READER_PASSWORD' },
  )
  return Promise.all(
    servers.map(async (server) => ({
      ...server,
      ...(await startServer(undefined, undefined, { ...server, files })),
    })),
  )
}

/** Returns the text of a cluster file with these servers. */
export const formatClusterFile = (servers: readonly ServerOfCluster[]): string =>
  `# Servers of a test.\nshards:\n${servers
    .map(
      ({ name, endpoint, nativePort }) =>
        `  - name: ${name}\n    url: ${endpoint.url}\n    native: 127.0.0.1:${nativePort}\n`,
    )
    .join('')}`
