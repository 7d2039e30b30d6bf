/** Measures how much disk space facts and rollups take, once merges have finished. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql, statement, strings } from '../../src/clickhouse/sql.js'
import type { Store } from '../../src/clickhouse/store.js'
import { ROLLUP_NAMES } from '../../src/model/rollups.js'
import { printTable, formatWhole } from '../shared/figures.js'

const FACTS: readonly string[] = ['events', 'sessions']
const MEGABYTE = 1_000_000
const QUIET_MS = 3_000
const MERGE_TIMEOUT_MS = 600_000

/** Waits until no merge has run for QUIET_MS, for 10 minutes at most. */
export async function waitForMerges({ admin }: Store): Promise<void> {
  const until = performance.now() + MERGE_TIMEOUT_MS
  let quietSince = performance.now()
  while (performance.now() < until && performance.now() - quietSince < QUIET_MS) {
    const { rows } = await admin.query(statement(sql`SELECT 1 FROM system.merges LIMIT 1`))
    if (rows.length > 0) quietSince = performance.now()
    await sleep(250)
  }
}

interface Size {
  readonly table: string
  readonly rows: number
  readonly bytes: number
}

/** Prints the size of each table, and its ratio to the facts. */
export async function printDisk({ admin }: Store): Promise<void> {
  const { rows: sizes } = await admin.query<Size>(
    statement(sql`
SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes
FROM system.parts WHERE active AND database = currentDatabase() GROUP BY table`),
  )
  const sum = (tables: readonly string[], of: (size: Size) => number): number =>
    sizes.filter(({ table }) => tables.includes(table)).reduce((all, size) => all + of(size), 0)
  const facts = sum(FACTS, ({ bytes }) => bytes)
  const line = (name: string, tables: readonly string[]): readonly string[] => {
    const bytes = sum(tables, (size) => size.bytes)
    return [
      name,
      formatWhole(sum(tables, ({ rows }) => rows)),
      (bytes / MEGABYTE).toFixed(1),
      (bytes / facts).toFixed(3),
    ]
  }
  printTable(
    ['table', 'rows', 'MB', 'of the facts'],
    [
      ...[...FACTS, ...ROLLUP_NAMES].map((name) => line(name, [name])),
      line('all facts', FACTS),
      line('all rollups', ROLLUP_NAMES),
    ],
  )
}

/** Prints the room that numbers, goals and segments take, and its ratio to the facts. */
export async function printDiskOf({ admin }: Store): Promise<void> {
  const { rows } = await admin.query<{ name: string; bytes: number; share: number }>(
    statement(sql`
WITH sizes AS (
  SELECT concat('the column ', column) AS name, column_bytes_on_disk AS size
  FROM system.parts_columns WHERE active AND database = currentDatabase() AND table = 'events' AND column IN ('numbers', 'properties')
  UNION ALL
  SELECT if(table = 'definitions', 'goals and segments', 'all facts') AS name, bytes_on_disk AS size
  FROM system.parts WHERE active AND database = currentDatabase() AND (table = 'definitions' OR table IN ${strings(FACTS)})
)
SELECT name, toFloat64(sum(size)) AS bytes, bytes / max(if(name = 'all facts', bytes, 0)) OVER () AS share
FROM sizes GROUP BY name ORDER BY bytes`),
  )
  printTable(
    ['what', 'kB', 'of the facts'],
    rows.map(({ name, bytes, share }) => [name, formatWhole(bytes / 1_000), share.toFixed(3)]),
  )
}
