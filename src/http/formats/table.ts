/** Tables in memory: what the writers of several formats share. */
import type { Cell, Facts, Table, TableRow } from '../../analytics/table.js'

/** Writes a table as bytes of its format. It throws when the rows break off. */
export type TableWriter = (table: Table) => AsyncGenerator<Uint8Array>

/** The maximum number of rows that are kept in memory as columns. */
const MAX_BATCH_ROWS = 8_192

/** Passes rows on in batches of `MAX_BATCH_ROWS`; the last one has the rest. */
export async function* regroup(
  batches: AsyncIterable<readonly TableRow[]>,
): AsyncGenerator<readonly TableRow[]> {
  let kept: TableRow[] = []
  for await (const batch of batches) {
    kept.push(...batch)
    while (kept.length >= MAX_BATCH_ROWS) {
      yield kept.slice(0, MAX_BATCH_ROWS)
      kept = kept.slice(MAX_BATCH_ROWS)
    }
  }
  if (kept.length > 0) yield kept
}

/** Returns the cells of a column. */
export const readColumn = (rows: readonly TableRow[], index: number): readonly Cell[] =>
  rows.map((row) => row[index] ?? null)

/** The names of facts in the metadata of a file begin like this. */
const PREFIX = 'tally.'

/** Names the facts as the metadata of a file does. */
export const nameFacts = (facts: Facts): Map<string, string> =>
  new Map(Object.entries(facts).map(([name, value]) => [PREFIX + name, value]))
