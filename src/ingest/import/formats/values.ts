/** Turns values of cells into the JSON of an event's values. */
import { inOneLine } from './rows.js'
import type { Target } from './mapping.js'

/** How a value is to be read. */
export interface Reading {
  /** Of a file with other names than ours: numbers are Unix times, and `direct` or `-` is no referrer. */
  readonly isForeign: boolean
}

const BOOLEANS: ReadonlyMap<string, string> = new Map([
  ['true', 'true'],
  ['false', 'false'],
  ['1', 'true'],
  ['0', 'false'],
])

const REFERRERS: ReadonlySet<string> = new Set(['referrer', 'referrer_url'])
const NO_REFERRERS: ReadonlySet<string> = new Set(['direct', '-'])

/** A greater number of a Unix time is one of milliseconds, else of seconds. */
export const MOST_SECONDS = 1e11

const NUMBER = /^-?\d{1,13}(\.\d+)?$/

/** The JSON of a cell of text; undefined for one that is absent. */
export function cellJson({ kind, name }: Target, cell: string, { isForeign }: Reading) {
  if (cell === '') return undefined
  if (kind === 'property') return JSON.stringify(cell)
  if (name === 'anonymous') return BOOLEANS.get(cell.toLowerCase()) ?? JSON.stringify(cell)
  if (name === 'properties') return isObject(cell) ? inOneLine(cell) : JSON.stringify(cell)
  if (isForeign && REFERRERS.has(name) && NO_REFERRERS.has(cell)) return undefined
  const isUnix = isForeign && name === 'timestamp' && NUMBER.test(cell)
  return JSON.stringify(isUnix ? unixTime(Number(cell)) : cell)
}

/** The JSON of a value of JSON in a foreign file; undefined for one that is absent. */
export function foreignJson(target: Target, value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined
  const isField = target.kind === 'field' && target.name !== 'properties'
  // A number beyond the exact ones would be another's id; it stays a number, and is refused as such.
  const isExact = typeof value === 'number' && (Number.isSafeInteger(value) || value % 1 !== 0)
  const isText = typeof value === 'string' && value !== ''
  return isField && (isText || isExact)
    ? cellJson(target, String(value), { isForeign: true })
    : JSON.stringify(value)
}

/** ISO 8601, or the number itself where no date is that far away. */
function unixTime(number: number): string {
  const time = new Date(Math.abs(number) > MOST_SECONDS ? number : number * 1_000)
  return Number.isNaN(time.getTime()) ? String(number) : time.toISOString()
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** The line of an event whose values are given as JSON; undefined ones are absent. */
export function eventLine(
  values: readonly (readonly [target: Target, json: string | undefined])[],
): string {
  const fields: string[] = []
  const properties: string[] = []
  let given: string | undefined
  for (const [{ kind, name }, json] of values) {
    if (json === undefined) continue
    if (kind === 'property') properties.push(`${JSON.stringify(name)}:${json}`)
    else if (name === 'properties') given = json
    else fields.push(`"${name}":${json}`)
  }
  const all = withEntries(given, properties)
  return `{${(all === undefined ? fields : [...fields, `"properties":${all}`]).join(',')}}`
}

/** An object with more entries; what is no object stays as it is, for the loader to refuse. */
function withEntries(given: string | undefined, entries: readonly string[]): string | undefined {
  const object = given?.trim()
  if (entries.length === 0 || (object !== undefined && !object.startsWith('{'))) return object
  const before = object?.slice(1, -1).trim() ?? ''
  return `{${[...(before === '' ? [] : [before]), ...entries].join(',')}}`
}
