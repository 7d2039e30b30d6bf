/** Streams the result of a SELECT. */
import { randomUUID } from 'node:crypto'
import { addAbortSignal, type Readable } from 'node:stream'
import { toConnectionError } from './errors.js'
import { SEMANTIC_SETTINGS } from './semantic-settings.js'
import type { Statement } from './sql.js'
import type { Line, Settings } from './statements.js'
import { runTraced, supervise } from './supervise.js'

/** Streams the bytes of a SELECT to a consumer. Bytes that ClickHouse appends when the statement fails are not told apart. */
export function download(
  { client, overseer, killsCancelled, trace }: Line,
  { query, query_params }: Statement,
  consume: (bytes: Readable) => Promise<void>,
  settings?: Settings,
  signal?: AbortSignal,
): Promise<void> {
  const query_id = randomUUID()
  const send = async (abort_signal: AbortSignal): Promise<void> => {
    const { stream } = await client.exec({
      query,
      query_params,
      query_id,
      abort_signal,
      clickhouse_settings: { ...SEMANTIC_SETTINGS, ...settings },
    })
    await consume(addAbortSignal(abort_signal, stream))
  }
  return runTraced(trace, 'query', query_id, () =>
    supervise(send, {
      signal,
      watch: overseer.watch(query_id, () => false),
      onCancelled: () => killsCancelled && overseer.kill(query_id),
    }).catch((error: unknown) => {
      throw toConnectionError(error)
    }),
  )
}
