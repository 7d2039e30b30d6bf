/** Reads exports of other tools by their presets. */
import { markInvalid, SKIPPED_LINE } from '../../inbox/line-marks.js'
import { readCsv } from '../formats/csv.js'
import {
  buildEventLine,
  cellToJson,
  foreignValueToJson,
  parseJsonObject,
} from '../formats/event-line.js'
import { SourceError } from '../formats/format.js'
import { parseTarget, type Target } from '../formats/mapping.js'
import { normalize } from './names.js'
import { LEFT_OUT, READ, type EventValues, type ForeignRow, type Preset } from './preset.js'
import { readObjects } from './read-objects.js'

interface PresetOptions {
  /** Called for each row that is not an event. */
  readonly onSkipped: () => void
  /** Called once with the columns that events have no field for. */
  readonly onLeftOut?: ((columns: readonly string[]) => void) | undefined
}

/**
 * Converts each row of an export to the lines of its events, or to a skipped row.
 *
 * @throws SourceError if the export is of another kind: if a column is missing or unknown
 */
export function readByPreset(
  source: AsyncIterable<Buffer>,
  preset: Preset,
  options: PresetOptions,
): AsyncGenerator<Buffer> {
  if (preset.format === 'json') return readJson(source, preset, options)
  return readCsv(source, (names) => {
    checkColumns(names, preset)
    options.onLeftOut?.(names.filter((name) => preset.columns[name] === LEFT_OUT))
    return (cells) => {
      const row: Record<string, string> = {}
      for (const [i, name] of names.entries()) row[name] = readCell(cells[i])
      return convertRow(row, preset, options)[0] ?? SKIPPED_LINE
    }
  })
}

/** Reads a cell; ClickHouse writes null as `\N`. */
const readCell = (cell = ''): string => (cell === '\\N' ? '' : cell)

function checkColumns(names: readonly string[], preset: Preset): void {
  requireColumns(names, preset)
  const unknown = names.filter((name) => !Object.hasOwn(preset.columns, name))
  if (unknown.length > 0) {
    throw new SourceError(
      `has columns that ${preset.title} does not have: ${unknown.join(', ')}; export it without them, or import it with ` +
        '--map <field>=<column> instead of --from',
    )
  }
  const repeated = names.find((name, i) => names.indexOf(name) !== i)
  if (repeated !== undefined) throw new SourceError(`has the column ${repeated} twice`)
}

function requireColumns(names: readonly string[], preset: Preset): void {
  const missing = findMissing(names, preset)
  if (missing.length === 0) return
  throw new SourceError(
    `lacks ${missing.join(', ')}, so it is not ${preset.title}; it has ${names.slice(0, MAX_SHOWN).join(', ')}. ` +
      'The page /docs/imports says how to export it',
  )
}

const MAX_SHOWN = 20

const findMissing = (names: readonly string[], { required }: Preset): readonly string[] =>
  required.filter((name) => !names.includes(name))

async function* readJson(
  source: AsyncIterable<Buffer>,
  preset: Preset,
  options: PresetOptions,
): AsyncGenerator<Buffer> {
  const leftOut = new Set<string>()
  let isFirst = true
  for await (const text of readObjects(source)) {
    const row = parseJsonObject(text) as ForeignRow | undefined
    const keys = Object.keys(row ?? {})
    if (isFirst && row !== undefined) requireColumns(keys, preset)
    isFirst = false
    for (const key of keys) if (!isTaken(key, preset)) leftOut.add(key)
    yield Buffer.from(convertObject(row, text, preset, options))
  }
  options.onLeftOut?.([...leftOut])
}

const isTaken = (key: string, { columns }: Preset): boolean =>
  Object.hasOwn(columns, key) && columns[key] !== LEFT_OUT

function convertObject(
  row: ForeignRow | undefined,
  text: string,
  preset: Preset,
  options: PresetOptions,
): string {
  if (row === undefined) return `${markInvalid('is not valid JSON', text)}\n`
  const missing = findMissing(Object.keys(row), preset)
  if (missing.length > 0) return `${markInvalid(`lacks ${missing.join(', ')}`, text)}\n`
  return convertRow(row, preset, options)
    .map((line) => `${line}\n`)
    .join('')
}

/** Converts a row to the lines of its events; to one skipped line if it has none. */
function convertRow(
  row: ForeignRow,
  { columns, toEvents }: Preset,
  { onSkipped }: PresetOptions,
): readonly string[] {
  const shared: Record<string, unknown> = {}
  for (const column in columns) {
    const target = columns[column] ?? LEFT_OUT
    const isMapped = target !== READ && target !== LEFT_OUT
    if (isMapped && row[column] !== undefined) shared[target] = row[column]
  }
  const lines = toEvents(row).map((own) => writeLine({ ...shared, ...own }))
  if (lines.length > 0) return lines
  onSkipped()
  return [SKIPPED_LINE]
}

function writeLine(values: EventValues): string {
  const cells: (readonly [Target, string | undefined])[] = []
  for (const name in values) {
    const value = values[name]
    const target = value === undefined || value === '' ? undefined : parseTarget(name)
    if (target !== undefined) cells.push([target, writeValue(target, normalize(name, value))])
  }
  return buildEventLine(cells)
}

const writeValue = (target: Target, value: unknown): string | undefined =>
  typeof value === 'string'
    ? cellToJson(target, value, { hasForeignNames: true })
    : foreignValueToJson(target, value)
