/** Formats the rows of a response as a table. */
import type { Cell } from '../../analytics/table.js'
import { formatNumber } from '../../lib/counts.js'
import { isRecord } from '../../lib/records.js'
import { findNamedMetric } from '../../model/metrics.js'
import { escapeControls, formatTable } from '../shared/output.js'

type FlatRow = ReadonlyMap<string, Cell>

/** The levels of a row that are not part of the names of columns. */
const PLAIN_LEVELS: ReadonlySet<string> = new Set(['group', 'metrics'])

const COMPARED = 'comparison_'
const CHANGE = 'comparison_change_'

/** Rows as cells, with their headings first. */
interface Table {
  readonly lines: readonly (readonly string[])[]
  /** Whether a column has numbers only. */
  readonly isNumeric: (column: number) => boolean
}

/** Divides rows into cells. Those of a comparison stand beside their metrics. */
export function tabulateRows(rows: readonly unknown[]): Table {
  const flat = rows.map(flattenRow)
  const columns = orderColumns([...new Set(flat.flatMap((row) => [...row.keys()]))])
  const values = columns.map((name) => flat.map((row) => row.get(name) ?? null))
  const cells = flat.map((row) => columns.map((name) => formatCell(name, row.get(name) ?? null)))
  return {
    lines: [columns.map(formatHeading), ...cells],
    isNumeric: (column) => values[column]?.every((value) => typeof value !== 'string') === true,
  }
}

/** Formats rows in aligned columns. Values come from visitors, so nothing that controls a terminal is printed. */
export function formatRowsAsTable(rows: readonly unknown[]): string {
  if (rows.length === 0) return ''
  const { lines, isNumeric } = tabulateRows(rows)
  return formatTable(lines, isNumeric)
}

/** Lists every metric with its value in the other period and its change beside it. */
function orderColumns(columns: readonly string[]): readonly string[] {
  const own = columns.filter((name) => !name.startsWith(COMPARED))
  return own.flatMap((name) => [
    name,
    ...[`${COMPARED}${name}`, `${CHANGE}${name}`].filter((other) => columns.includes(other)),
  ])
}

function formatHeading(column: string): string {
  if (column.startsWith(CHANGE)) return 'CHANGE'
  return column.startsWith(COMPARED) ? 'BEFORE' : column.toUpperCase()
}

function formatCell(column: string, value: Cell): string {
  if (value === null) return '-'
  if (value === '') return '""'
  if (typeof value !== 'number') return escapeControls(String(value))
  return column.startsWith(CHANGE)
    ? formatChange(column.slice(CHANGE.length), value)
    : formatNumber(value)
}

/** A change with its sign, in per cent. The change of a percentage is in percentage points. */
function formatChange(metric: string, change: number): string {
  const isPercentage = findNamedMetric(metric)?.isPercentage === true
  return `${change > 0 ? '+' : ''}${formatNumber(change)}${isPercentage ? ' pp' : '%'}`
}

const flattenRow = (row: unknown): FlatRow => new Map(flatten(row, ''))

/** Lists the values of a row with the names of their columns: `users`, `comparison_users`. */
function flatten(value: unknown, name: string): readonly (readonly [string, Cell])[] {
  if (isRecord(value)) {
    return Object.entries(value).flatMap(([key, inner]) =>
      flatten(
        inner,
        PLAIN_LEVELS.has(key) && isRecord(inner) ? name : name === '' ? key : `${name}_${key}`,
      ),
    )
  }
  const isCell =
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  return [[name, isCell || value === null ? value : JSON.stringify(value)]]
}
