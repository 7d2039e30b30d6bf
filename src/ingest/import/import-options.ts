/** The options and the report of an import, shared by the import and its dry run. */
import type { Rejection } from '../inbox/rejections.js'
import type { AffectedCounts } from '../loader/affected.js'
import type { LoadReport } from '../loader/load-report.js'
import type { LoaderContext } from '../loader/loader-context.js'

export interface ImportOptions {
  /** The project of all rows; without it each row names its own. */
  readonly projectId?: string
  /** The IANA name of the zone of timestamps that name none; UTC by default. */
  readonly zone?: string | undefined
  /** Identifies how the source was converted to lines: the same bytes, converted differently, are another source. */
  readonly identity?: string
  /** Stops at the first chunk that holds a rejected row, and loads nothing of that chunk. */
  readonly strict?: boolean
  /** Validates, enriches and reports as if it loaded, but stores nothing. */
  readonly dryRun?: boolean
  /** The time of arrival of the events. */
  readonly now: Date
  readonly loader: LoaderContext
  /**
   * Set for an import that goes on after an interruption. Loads of its chunks from this number on are its own: their rows
   * count as they did then, and not as duplicates.
   */
  readonly firstLoad?: number | undefined
  /** Ends the import before its next chunk. */
  readonly stop?: AbortSignal | undefined
  /** The most bytes that are loaded at once. */
  readonly chunkSize?: number
  /** Called with the rejected rows of each chunk after it is loaded. */
  readonly onRejected: (rejections: readonly Rejection[]) => Promise<void> | void
  /** Called with the name of each batch, earlier loads included: `countAffected` counts their users. */
  readonly onBatch?: (batch: string) => void
  /** Called for each timestamp that names no zone. */
  readonly onZoneless?: (() => void) | undefined
  /** Called after each chunk with the totals so far. */
  readonly onProgress?: (soFar: LoadReport) => void
  /** Set for one part of a source that is split among stores; blank lines stand for the rows of the other parts. */
  readonly part?: ImportPart | undefined
}

interface ImportPart {
  /** Called after each chunk, and its rejected rows, with the number of the next row. */
  readonly onRow: (row: number) => Promise<void>
}

/** The outcome of all rows, and how many users and sessions have events among them. */
export type ImportReport = LoadReport & AffectedCounts
