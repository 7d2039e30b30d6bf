/** Imports a source of any format, as the command does. */
import { openRows, type OpenOptions as Options } from '../../../src/ingest/import/open-rows.js'
import type { ImportReport } from '../../../src/ingest/import/import-options.js'
import type { Rejection } from '../../../src/ingest/inbox/rejections.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { ARRIVAL } from '../world/world.js'
import { importEvents } from '../store/loading.js'

export interface Imported {
  readonly report: ImportReport
  readonly rejections: readonly Rejection[]
  readonly skipped: number
  /** How many timestamps had no zone. */
  readonly zoneless: number
}

export type OpenOptions = Omit<Options, 'writer'>

/** Imports a source into a project. */
export async function importBytes(
  store: Store,
  projectId: string,
  source: AsyncIterable<Buffer>,
  options: OpenOptions = {},
): Promise<Imported> {
  const rejections: Rejection[] = []
  let zoneless = 0
  const onZoneless = (): void => {
    zoneless++
  }
  const opened = await openRows(source, { writer: store.writer, onZoneless, ...options })
  const report = await importEvents(store, opened.rows, {
    projectId,
    identity: opened.identity,
    now: ARRIVAL,
    zone: options.zone,
    onZoneless,
    onRejected: (rows) => void rejections.push(...rows),
  })
  return { report, rejections, skipped: opened.skipped(), zoneless }
}
