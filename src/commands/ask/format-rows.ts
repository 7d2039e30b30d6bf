/** Formats the rows of a response as a table or as CSV. */
import { isRecord } from '../../lib/records.js'
import { formatTable } from '../shared/output.js'

type Cell = string | number | boolean | null
type FlatRow = ReadonlyMap<string, Cell>

/** The levels of a row that are not part of the names of columns. */
const PLAIN_LEVELS: ReadonlySet<string> = new Set(['group', 'metrics'])

/** Formats rows in aligned columns. Values come from visitors, so nothing that controls a terminal is printed. */
export function formatRowsAsTable(rows: readonly unknown[]): string {
  const { columns, cells } = flattenAll(rows)
  return formatTable([
    columns.map((name) => name.toUpperCase()),
    ...cells.map((row) => row.map((cell) => (cell === null ? '-' : escapeControls(String(cell))))),
  ])
}

/** Formats rows as CSV (RFC 4180). A missing number is an empty field. */
export function formatRowsAsCsv(rows: readonly unknown[]): string {
  const { columns, cells } = flattenAll(rows)
  return [columns, ...cells].map((row) => row.map(formatField).join(',')).join('\r\n')
}

const formatField = (cell: Cell): string => {
  const text = cell === null ? '' : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const escapeControls = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )

function flattenAll(rows: readonly unknown[]): {
  readonly columns: readonly string[]
  readonly cells: readonly (readonly Cell[])[]
} {
  const flat = rows.map((row) => new Map(flatten(row, '')))
  const columns = [...new Set(flat.flatMap((row: FlatRow) => [...row.keys()]))]
  return { columns, cells: flat.map((row) => columns.map((name) => row.get(name) ?? null)) }
}

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
