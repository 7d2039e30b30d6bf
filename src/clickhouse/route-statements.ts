/** Connections to a store of several replicas. */
import type { Connection } from './connection-types.js'
import { fence } from './connection-wrappers.js'
import type { Member, ReplicaSet } from './endpoint.js'

/**
 * Returns a connection that sends each statement to the replica that is active at this moment. A statement ends with a
 * StoreUnavailableError when another replica takes over from one that does not answer.
 *
 * @param open opens the connection to a replica
 */
export function routeConnection(set: ReplicaSet, open: (member: Member) => Connection): Connection {
  const connections = new Map(set.members.map((member) => [member, open(member)]))
  const run = async <Result>(
    given: AbortSignal | undefined,
    send: (connection: Connection, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> => {
    const { member, left } = set.getActive()
    const connection = connections.get(member)
    if (connection === undefined) throw new TypeError(`no connection to ${member.replica.name}`)
    return fence(left, given, (signal) => send(connection, signal))
  }
  return {
    query: (statement, options) =>
      run(options?.signal, (active, signal) => active.query(statement, { ...options, signal })),
    stream: (statement, consume, options) =>
      run(options?.signal, (active, signal) =>
        active.stream(statement, consume, { ...options, signal }),
      ),
    execute: (statement, settings, given) =>
      run(given, (active, signal) => active.execute(statement, settings, signal)),
    upload: (statement, bytes, settings, given) =>
      run(given, (active, signal) => active.upload(statement, bytes, settings, signal)),
    download: (statement, consume, settings, given) =>
      run(given, (active, signal) => active.download(statement, consume, settings, signal)),
    ping: (timeoutMs) => run(undefined, (active) => active.ping(timeoutMs)).catch(() => false),
    close: async () => {
      await Promise.all([...connections.values()].map((connection) => connection.close()))
    },
    replica: {
      get name() {
        return set.getActive().member.replica.name
      },
      path: set.path,
      getQuorum: set.getQuorum,
    },
  }
}
