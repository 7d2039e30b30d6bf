/** Imports a source of any format, as the command does. */
import { openRows, type OpenOptions } from '../../../src/ingest/import/open-rows.js'
import type { ImportReport } from '../../../src/ingest/import/import-options.js'
import type { Rejection } from '../../../src/ingest/inbox/rejections.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { ARRIVAL } from '../world/world.js'
import { importEvents } from '../store/loading.js'

export interface Imported {
  readonly report: ImportReport
  readonly rejections: readonly Rejection[]
  readonly skipped: number
}

/** Imports a source into a project. */
export async function importBytes(
  store: Store,
  projectId: string,
  source: AsyncIterable<Buffer>,
  options: Omit<OpenOptions, 'writer'> = {},
): Promise<Imported> {
  const rejections: Rejection[] = []
  const opened = await openRows(source, { writer: store.writer, ...options })
  const report = await importEvents(store, opened.rows, {
    projectId,
    identity: opened.identity,
    now: ARRIVAL,
    onRejected: (rows) => void rejections.push(...rows),
  })
  return { report, rejections, skipped: opened.skipped() }
}
