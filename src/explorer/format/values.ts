/** Values of fields as people read them. */

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' })
const LANGUAGES = new Intl.DisplayNames('en', { type: 'language', fallback: 'code' })

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
  country: (value) => nameBy(COUNTRIES, value),
  language: (value) => nameBy(LANGUAGES, value),
}

/** Returns the name of a value, such as `Germany` for the country `DE`. */
export const nameValue = (field: string, value: string): string =>
  value === '' ? (MISSING[field] ?? '(none)') : (NAMES[field]?.(value) ?? value)

/** Whether the name of a value contains a text, ignoring case. A code is also found by itself: `de` finds the country `DE`. */
export function matchesName(field: string, value: string, text: string): boolean {
  const searched = text.toLowerCase()
  return (
    nameValue(field, value).toLowerCase().includes(searched) || value.toLowerCase() === searched
  )
}

/** Stored codes may be any text, also none that has a name. */
function nameBy(names: Intl.DisplayNames, code: string): string {
  try {
    return names.of(code) ?? code
  } catch {
    return code
  }
}
