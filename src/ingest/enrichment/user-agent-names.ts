/** Names of browsers and operating systems: from the names of bowser to the names in reports. */
import type { DeviceType } from '../../contract/api.js'

/** Browsers that have the same name in bowser and in reports. */
const SAME_BROWSERS = `
  Amazon Silk, Android Browser, BlackBerry, Bada, Brave, Chrome, Chromium, DuckDuckGo, Electron, Epiphany, Firefox,
  HeyTap Browser, Internet Explorer, K-Meleon, Ladybird, LibreWolf, Maxthon, MZ Browser, Opera, Opera Coast, Pale Moon,
  PlayStation 4, Puffin, QQ Browser, QupZilla, Roku, Safari, Sailfish, SeaMonkey, Sleipnir, Sogou Browser, Swing, Tizen,
  UC Browser, Vivaldi, Vivo Browser, WeChat, Yandex Browser
`
  .trim()
  .split(/,\s+/)

/** Operating systems that have the same name in bowser and in reports. */
const SAME_SYSTEMS =
  'Android, Bada, BlackBerry, HarmonyOS, iOS, Linux, macOS, Roku, Tizen, Windows, Windows Phone'.split(
    ', ',
  )

/**
 * The browsers, by their names in bowser. Any other name that bowser returns is a part of the user agent's text or the
 * name of a bot, and is not reported.
 */
export const BROWSERS: ReadonlyMap<string, string> = new Map([
  // Reports use the more common name.
  ['Microsoft Edge', 'Edge'],
  ['Samsung Internet for Android', 'Samsung Internet'],
  ['NAVER Whale Browser', 'Whale'],
  ['Opera Touch', 'Opera'],
  ['QQ Browser Lite', 'QQ Browser'],
  ['Google Search', 'Google App'],
  ['WebOS Browser', 'LG Browser'],
  ['Miui', 'MIUI Browser'],
  ['Focus', 'Firefox Focus'],
  ...SAME_BROWSERS.map((name) => [name, name] as const),
])

/** The operating systems, by their names in bowser. */
export const SYSTEMS: ReadonlyMap<string, string> = new Map([
  ['Chrome OS', 'ChromeOS'],
  ['WebOS', 'webOS'],
  ['PlayStation 4', 'PlayStation'],
  ...SAME_SYSTEMS.map((name) => [name, name] as const),
])

/** The device that a system usually runs on, for user agents whose device bowser does not detect. */
export const DEVICES: ReadonlyMap<string, DeviceType> = new Map([
  ['Android', 'mobile'],
  ['BlackBerry', 'mobile'],
  ['ChromeOS', 'desktop'],
  ['HarmonyOS', 'mobile'],
  ['iOS', 'mobile'],
  ['Linux', 'desktop'],
  ['macOS', 'desktop'],
  ['Windows', 'desktop'],
  ['Windows Phone', 'mobile'],
])

/** Browsers that bowser mistakes for the one they are built on, by a mark in their user agent. */
export const BROWSER_MARKS: readonly (readonly [mark: RegExp, browser: string])[] = [
  [/\bBrave\b/i, 'Brave'],
  [/\bUC(?:Mobile|WEB|Browser)|\bUBrowser\//, 'UC Browser'],
  [/\b(?:DuckDuckGo|Ddg)\//, 'DuckDuckGo'],
  [/\bGSA\//, 'Google App'],
]

/** Systems that bowser does not detect, by a mark in the user agent. */
export const SYSTEM_MARKS: readonly (readonly [mark: RegExp, system: string])[] = [
  [/\bHarmonyOS\b/, 'HarmonyOS'],
  [/\biOS\b/, 'iOS'],
  [/\bWindows(?:CE)?\b/, 'Windows'],
]
