/** Names that other tools give to browsers, systems, devices and countries, and those in our reports. */
import { SESSION_ATTRIBUTES } from '../../../model/event-fields.js'

/** What other tools write for a value that they do not know. */
const UNKNOWN = /^(?:|\\n|unknown|unk|xx|\(not set\)|\(not provided\)|\(none\)|\(direct\))$/i

const ATTRIBUTES: ReadonlySet<string> = new Set(SESSION_ATTRIBUTES.map(({ field }) => field))

/** The browsers, each by the beginning of its names; the first match decides. Others keep their name. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/^(?:chrome|chromium-webview|crios|android webview)/i, 'Chrome'],
  [/^(?:edge|microsoft edge)/i, 'Edge'],
  [/^firefox focus/i, 'Firefox Focus'],
  [/^(?:firefox|fxios)/i, 'Firefox'],
  [/^(?:safari|mobile safari|ios)/i, 'Safari'],
  [/^samsung/i, 'Samsung Internet'],
  [/^opera/i, 'Opera'],
  [/^(?:ie$|internet explorer|ie mobile)/i, 'Internet Explorer'],
  [/^yandex/i, 'Yandex Browser'],
  [/^(?:silk|amazon silk)/i, 'Amazon Silk'],
  [/^miui/i, 'MIUI Browser'],
  [/^android(?: browser)?$/i, 'Android Browser'],
]

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/^windows (?:phone|mobile)/i, 'Windows Phone'],
  [/^windows/i, 'Windows'],
  [/^mac/i, 'macOS'],
  [/^(?:ios|ipados)/i, 'iOS'],
  [/^android/i, 'Android'],
  [/^(?:chrome ?os)/i, 'ChromeOS'],
  [/^(?:gnu\/linux|linux|ubuntu|debian|fedora)/i, 'Linux'],
]

const DEVICES: readonly (readonly [RegExp, string])[] = [
  [/^(?:desktop|laptop)$/i, 'desktop'],
  [/^(?:mobile|smartphone|phablet|feature phone)$/i, 'mobile'],
  [/^tablet$/i, 'tablet'],
  // Televisions, consoles and the like: reports have no name for them.
  [/^/, ''],
]

const NAMES: Readonly<Record<string, readonly (readonly [RegExp, string])[]>> = {
  browser: BROWSERS,
  os: SYSTEMS,
  device_type: DEVICES,
}

const foldName = (name: string): string => name.toLowerCase().replaceAll('’', "'")

/** The codes of countries by their English names, as the CLDR writes them. */
const COUNTRIES: ReadonlyMap<string, string> = createCountries()

function createCountries(): ReadonlyMap<string, string> {
  const letters = 'A B C D E F G H I J K L M N O P Q R S T U V W X Y Z'.split(' ')
  const codes = letters
    .flatMap((first) => letters.map((second) => first + second))
    // A retired code, such as DD, has the region of the one that replaced it.
    .filter((code) => new Intl.Locale(`und-${code}`).region === code)
  return new Map([
    ...(['short', 'long'] as const).flatMap((style) => {
      const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none', style })
      return codes.map((code) => [foldName(names.of(code) ?? code), code] as const)
    }),
    // Names that the CLDR had before.
    ['turkey', 'TR'],
    ['macau', 'MO'],
    ['czech republic', 'CZ'],
    ['swaziland', 'SZ'],
    ['macedonia (fyrom)', 'MK'],
  ])
}

/** Returns a value of another tool under the name that reports have for it; undefined if the tool does not know it. */
export function normalize(field: string, value: unknown): unknown {
  if (typeof value !== 'string' || !ATTRIBUTES.has(field) || field === 'referrer_url') return value
  const text = value.trim()
  if (UNKNOWN.test(text)) return undefined
  if (field === 'country') {
    return text.length === 2 ? text.toUpperCase() : (COUNTRIES.get(foldName(text)) ?? text)
  }
  return NAMES[field]?.find(([pattern]) => pattern.test(text))?.[1] ?? text
}
