/** A service whose connections to the store can be broken, and whose streamed rows can be changed on their way. */
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import type { TestDatabase } from '../store/database.js'
import { startTestService } from '../world/service.js'
import { startByteProxy, type ByteProxy } from './byte-proxy.js'

/** Changes some rows of a stream. @param batch how many of them came before, by the stream */
export type ChangeRows = (rows: readonly object[], batch: number) => readonly object[]

export interface HarmedService {
  readonly service: RunningService
  /** Lies between the service and the store. */
  readonly proxy: ByteProxy
  readonly stop: () => Promise<void>
}

/** Starts the service on a database. */
export async function startHarmedService(
  { endpoint }: TestDatabase,
  { dataDir, now, changeRows }: { dataDir: string; now: Date; changeRows: ChangeRows },
): Promise<HarmedService> {
  const proxy = await startByteProxy(Number(new URL(endpoint.url).port))
  const store = connectStore({ ...endpoint, url: `http://127.0.0.1:${proxy.port}` })
  const { reader } = store
  const changed: Store = {
    ...store,
    reader: {
      ...reader,
      stream: (asked, consume, options) =>
        reader.stream<object>(
          asked,
          (rows) => consume(changeStream(rows, changeRows) as Parameters<typeof consume>[0]),
          options,
        ),
    },
  }
  const service = await startTestService({
    store: changed,
    env: { DATA_DIR: dataDir },
    now: () => now,
  })
  const stop = async (): Promise<void> => {
    await service.stop()
    await store.close()
    await proxy.stop()
  }
  return { service, proxy, stop }
}

async function* changeStream(
  rows: AsyncGenerator<readonly object[], number>,
  changeRows: ChangeRows,
): AsyncGenerator<readonly object[], number> {
  for (let batch = 0; ; batch += 1) {
    const next = await rows.next()
    if (next.done === true) return next.value
    yield changeRows(next.value, batch)
  }
}
