/** Builds the configuration by which the ClickHouse servers of a cluster know each other: the same on every server. */
import { CLUSTER_GRANTS } from '../clickhouse/embedded/users.js'
import { listServedGroups } from './groups.js'

/** A server, as the others reach it. */
interface ServerAddress {
  readonly name: string
  readonly host: string
  /** The port of ClickHouse's native protocol. */
  readonly port: number
  readonly secure: boolean
}

/** The account for queries, with which the servers ask each other. */
export interface QueryAccount {
  readonly username: string
  /** The variable in the environment of the servers that holds its password. */
  readonly passwordVariable: string
}

export interface ServerFile {
  /** Below the folder of the server's configuration, such as /etc/clickhouse-server. */
  readonly path: string
  readonly text: string
}

/** Builds the files of every server. They hold no passwords. A single server has none. */
export function buildServerFiles(
  servers: readonly ServerAddress[],
  account: QueryAccount,
): readonly ServerFile[] {
  if (servers.length < 2) return []
  return [
    { path: 'config.d/tallyhouse-cluster.xml', text: buildRemoteServers(servers, account) },
    { path: 'users.d/tallyhouse-cluster.xml', text: buildAccount(account) },
  ]
}

function buildRemoteServers(servers: readonly ServerAddress[], account: QueryAccount): string {
  const shards = new Map(servers.map((server) => [server.name, buildShard(server, account)]))
  const groups = listServedGroups([...shards.keys()]).map(
    (group) => `
    <${group.name}>${group.shards.map((name) => shards.get(name)).join('')}
    </${group.name}>`,
  )
  return `<!-- The groups of servers that queries are run across. Made by "tallyhouse cluster config". -->
<clickhouse>
  <remote_servers>${groups.join('')}
  </remote_servers>
</clickhouse>
`
}

const buildShard = (
  { name, host, port, secure }: ServerAddress,
  { username, passwordVariable }: QueryAccount,
): string => `
      <!-- ${escapeComment(name)} -->
      <shard><replica>
        <host>${escapeXml(host)}</host><port>${port}</port>${secure ? '<secure>1</secure>' : ''}
        <user>${escapeXml(username)}</user><password from_env="${passwordVariable}"/>
      </replica></shard>`

/**
 * Builds the further rights of the account. The attribute keeps them beside the rights in users.xml: without it, ClickHouse
 * would merge elements with the same name.
 */
const buildAccount = ({
  username,
}: QueryAccount): string => `<!-- The rights that queries across servers need, beside those in users.xml. -->
<clickhouse>
  <users>
    <${username}>
      <grants>${CLUSTER_GRANTS.map((grant, i) => `\n        <query cluster="${i + 1}">GRANT ${grant}</query>`).join('')}
      </grants>
    </${username}>
  </users>
</clickhouse>
`

/** Two hyphens would end a comment. */
const escapeComment = (text: string): string => text.replaceAll('--', '- -')

const escapeXml = (text: string): string =>
  text.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`)
