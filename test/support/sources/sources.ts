/** Creates sources for imports: streams of bytes, some of which fail at their end. */
import type { ImportReport } from '../../../src/ingest/import/import-options.js'
import type { Rejection } from '../../../src/ingest/inbox/rejections.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { ARRIVAL } from '../world/world.js'
import { importEvents, type ImportOptions } from '../store/loading.js'

/** Splits a text into chunks of these sizes, in turn; throws `failure` at the end, if given. */
export async function* splitIntoChunks(
  text: string | Buffer,
  sizes: readonly number[] = [1_000_000],
  failure?: Error,
): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0, n = 0; at < bytes.length; n += 1) {
    const end = at + sizes[n % sizes.length]!
    yield await Promise.resolve(bytes.subarray(at, end))
    at = end
  }
  if (failure !== undefined) throw failure
}

/** Writes one line per event; strings are lines already. */
export const toLines = (rows: readonly (object | string)[]): string =>
  rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('')

export interface ImportOutcome {
  readonly report: ImportReport
  readonly rejections: readonly Rejection[]
}

/** Imports a text; returns the report and all rejections. */
export async function importLines(
  store: Store,
  source: string | AsyncIterable<Buffer>,
  options: Partial<ImportOptions> = {},
): Promise<ImportOutcome> {
  const rejections: Rejection[] = []
  const report = await importEvents(
    store,
    typeof source === 'string' ? splitIntoChunks(source) : source,
    {
      now: ARRIVAL,
      onRejected: (rows) => void rejections.push(...rows),
      ...options,
    },
  )
  return { report, rejections }
}
