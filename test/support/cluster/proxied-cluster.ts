/** A cluster of two engines, with proxies before the second one: for the first engine, and for the service. */
import { connectStore } from '../../../src/clickhouse/store.js'
import { getPort } from '../../../src/clickhouse/embedded/member.js'
import type { Cluster } from '../../../src/cluster/cluster.js'
import { startByteProxy, type ByteProxy } from '../faults/byte-proxy.js'
import { startCluster, type TestCluster } from './cluster.js'

export interface ProxiedCluster {
  /** Its stores are reached without a proxy. */
  readonly direct: TestCluster
  /** What the service uses: the second store is reached through `http`. */
  readonly cluster: Cluster
  /** Where the first engine reaches the second one. */
  readonly native: ByteProxy
  /** Where the service reaches the second engine. */
  readonly http: ByteProxy
  stop(): Promise<void>
}

export async function startProxiedCluster(): Promise<ProxiedCluster> {
  let native: ByteProxy | undefined
  const direct = await startCluster(2, undefined, async (port, position) => {
    if (position === 0) return port
    native = await startByteProxy(port)
    return native.port
  })
  const { endpoint } = direct.engines[1]!
  const http = await startByteProxy(getPort(endpoint))
  const store = connectStore({ ...endpoint, url: `http://127.0.0.1:${http.port}` })
  const second = { ...direct.shards[1]!, store }
  return {
    direct,
    cluster: { home: direct.home, shards: [direct.home, second] },
    native: native!,
    http,
    stop: async () => {
      await store.close()
      await Promise.all([native!.stop(), http.stop()])
      await direct.stop()
    },
  }
}
