/** Converts cells and JSON values of a source to the JSON of an event. `columnar/value.ts` does the same in SQL. */
import { toOneLine } from '../../inbox/line-marks.js'
import type { Target } from './mapping.js'

/** Options of reading a value. */
export interface ReadOptions {
  /** In a file with foreign names, numbers are Unix times, and `direct` or `-` means no referrer. */
  readonly hasForeignNames: boolean
}

const BOOLEANS: ReadonlyMap<string, string> = new Map([
  ['true', 'true'],
  ['false', 'false'],
  ['1', 'true'],
  ['0', 'false'],
])

const REFERRER_FIELDS: ReadonlySet<string> = new Set(['referrer', 'referrer_url'])
const NO_REFERRER: ReadonlySet<string> = new Set(['direct', '-'])

/** The largest Unix time in seconds; larger numbers are milliseconds. `columnar/value.ts` has the same limit in SQL. */
const MAX_UNIX_SECONDS = 1e11

/** A Unix time as text. The pattern means the same in JavaScript and in RE2, which ClickHouse uses. */
export const UNIX_TIME = /^-?\d{1,13}(\.\d+)?$/

/** Converts a cell of text to JSON; returns undefined for an absent value. */
export function cellToJson(
  { kind, name }: Target,
  cell: string,
  { hasForeignNames }: ReadOptions,
): string | undefined {
  if (cell === '') return undefined
  if (kind === 'property') return JSON.stringify(cell)
  if (name === 'anonymous') return BOOLEANS.get(cell.toLowerCase()) ?? JSON.stringify(cell)
  if (name === 'properties') {
    return parseJsonObject(cell) === undefined ? JSON.stringify(cell) : toOneLine(cell)
  }
  if (hasForeignNames && REFERRER_FIELDS.has(name) && NO_REFERRER.has(cell)) return undefined
  const isUnixTime = hasForeignNames && name === 'timestamp' && UNIX_TIME.test(cell)
  return JSON.stringify(isUnixTime ? unixTimeToIso(Number(cell)) : cell)
}

/** Converts a JSON value of a file with foreign names; returns undefined for an absent value. */
export function foreignValueToJson(target: Target, value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined
  const isField = target.kind === 'field' && target.name !== 'properties'
  // An integer beyond 2^53 may have lost digits and could be another user's id. It stays a number, so that the
  // loader rejects it.
  const isExact = typeof value === 'number' && (Number.isSafeInteger(value) || value % 1 !== 0)
  const isText = typeof value === 'string' && value !== ''
  return isField && (isText || isExact)
    ? cellToJson(target, String(value), { hasForeignNames: true })
    : JSON.stringify(value)
}

/** Returns ISO 8601, or the number as text if it is beyond the range of dates. */
function unixTimeToIso(number: number): string {
  const time = new Date(Math.abs(number) > MAX_UNIX_SECONDS ? number : number * 1_000)
  return Number.isNaN(time.getTime()) ? String(number) : time.toISOString()
}

/** Returns undefined for text that is not the JSON of an object. */
export function parseJsonObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Builds the line of an event from values in JSON; undefined values are left out. */
export function buildEventLine(
  values: readonly (readonly [target: Target, json: string | undefined])[],
): string {
  const fields: string[] = []
  const entries: string[] = []
  let object: string | undefined
  for (const [{ kind, name }, json] of values) {
    if (json === undefined) continue
    if (kind === 'property') entries.push(`${JSON.stringify(name)}:${json}`)
    else if (name === 'properties') object = json
    else fields.push(`"${name}":${json}`)
  }
  const properties = addEntries(object, entries)
  const all = properties === undefined ? fields : [...fields, `"properties":${properties}`]
  return `{${all.join(',')}}`
}

/** Adds entries to the JSON of an object. JSON of another type stays as it is, and the loader rejects it. */
function addEntries(json: string | undefined, entries: readonly string[]): string | undefined {
  const object = json?.trim()
  if (entries.length === 0 || (object !== undefined && !object.startsWith('{'))) return object
  const before = object?.slice(1, -1).trim() ?? ''
  return `{${[...(before === '' ? [] : [before]), ...entries].join(',')}}`
}
