/** Values of fields as people read them. */
import { WEEKDAYS } from './dates.js'

/** What a missing value means, where it is more than that there is none. */
const MISSING: Readonly<Record<string, string>> = {
  referrer: 'Direct',
  country: 'Unknown',
  region: 'Unknown',
  city: 'Unknown',
  language: 'Unknown',
  browser: 'Unknown',
  os: 'Unknown',
  device_type: 'Unknown',
}

const NAMES: Readonly<Record<string, (value: string) => string>> = {
  country: (value) => nameBy('region', value),
  language: (value) => nameBy('language', value),
  weekday: (value) => WEEKDAYS[Number(value) % 7] ?? value,
  hour: (value) => nameHours(value, value),
}

const PATHS: readonly string[] = ['page:path', 'page:entry', 'page:exit']

/** Whether the values of a field are paths, in which browsers encode what is not ASCII. */
export const isPath = (field: string): boolean => PATHS.includes(field)

/** Decodes a path, such as `/%C3%BCber`; one that is not well formed stays as it is. */
function decodePath(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** The forms in which values of a field may have a text: paths as it is, or encoded. */
export function listForms(field: string, text: string): readonly string[] {
  if (!isPath(field) || !/[^\x21-\x7e]/.test(text)) return [text]
  try {
    return [text, encodeURI(text)]
  } catch {
    // A half of a character has no encoded form.
    return [text]
  }
}

/** The flag of a country; empty if the value is none. */
export const flagOf = (field: string, value: string): string =>
  field === 'country' && /^[A-Z]{2}$/.test(value)
    ? String.fromCodePoint(0x1f1a5 + value.charCodeAt(0), 0x1f1a5 + value.charCodeAt(1))
    : ''

/** Returns the name of a value, such as `Germany` for the country `DE`. */
export const nameValue = (field: string, value: string): string =>
  value === ''
    ? (MISSING[field] ?? '(none)')
    : isPath(field)
      ? decodePath(value)
      : (NAMES[field]?.(value) ?? value)

/** Names the hours from one to another, such as `09:00–12:00` for `09` to `11`. */
const nameHours = (first: string, last: string): string =>
  `${first}:00–${String(Number(last) + 1).padStart(2, '0')}:00`

/** Returns the names of values: of weekdays and hours in the order of the clock, of hours that follow each other as one. */
export function nameValues(field: string, values: readonly string[]): readonly string[] {
  if (field !== 'weekday' && field !== 'hour') {
    return values.map((value) => nameValue(field, value))
  }
  const sorted = [...new Set(values)].sort()
  if (field === 'weekday') return sorted.map((value) => nameValue(field, value))
  const isAfter = (value: string | undefined, before: string): boolean =>
    value !== undefined && Number(value) === Number(before) + 1
  const lasts = sorted.filter((value, i) => !isAfter(sorted[i + 1], value))
  const firsts = sorted.filter((value, i) => !isAfter(value, sorted[i - 1] ?? 'none'))
  return firsts.map((first, i) => nameHours(first, lasts[i] ?? first))
}

/** Whether the name of a value contains a text, ignoring case. A code is also found by itself: `de` finds the country `DE`. */
export function matchesName(field: string, value: string, text: string): boolean {
  const searched = text.toLowerCase()
  return (
    nameValue(field, value).toLowerCase().includes(searched) || value.toLowerCase() === searched
  )
}

/** The names of countries and of languages, once one is read. */
const names: Partial<Record<'region' | 'language', Intl.DisplayNames>> = {}

/** Names a code. Stored codes may be any text, also none that has a name. */
function nameBy(type: 'region' | 'language', code: string): string {
  try {
    names[type] ??= new Intl.DisplayNames('en', { type, fallback: 'code' })
    return names[type].of(code) ?? code
  } catch {
    return code
  }
}
