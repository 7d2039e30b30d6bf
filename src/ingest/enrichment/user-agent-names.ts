/** What browsers and operating systems are called: the library's names, each with the one we use. */

export type DeviceType = '' | 'desktop' | 'mobile' | 'tablet'

/** A name that is not here is part of the text of the user agent, or a bot's: neither is a browser. */
export const BROWSERS: ReadonlyMap<string, string> = new Map([
  // Called otherwise by those who read reports.
  ['Microsoft Edge', 'Edge'],
  ['Samsung Internet for Android', 'Samsung Internet'],
  ['NAVER Whale Browser', 'Whale'],
  ['Opera Touch', 'Opera'],
  ['QQ Browser Lite', 'QQ Browser'],
  ['Google Search', 'Google App'],
  ['WebOS Browser', 'LG Browser'],
  ['Miui', 'MIUI Browser'],
  ['Focus', 'Firefox Focus'],
  ...[
    ...['Amazon Silk', 'Android Browser', 'BlackBerry', 'Bada', 'Brave', 'Chrome', 'Chromium'],
    ...['DuckDuckGo', 'Electron', 'Epiphany', 'Firefox', 'HeyTap Browser', 'Internet Explorer'],
    ...['K-Meleon', 'Ladybird', 'LibreWolf', 'Maxthon', 'MZ Browser', 'Opera', 'Opera Coast'],
    ...['Pale Moon', 'PlayStation 4', 'Puffin', 'QQ Browser', 'QupZilla', 'Roku', 'Safari'],
    ...['Sailfish', 'SeaMonkey', 'Sleipnir', 'Sogou Browser', 'Swing', 'Tizen', 'UC Browser'],
    ...['Vivaldi', 'Vivo Browser', 'WeChat', 'Yandex Browser'],
  ].map((name) => [name, name] as const),
])

export const SYSTEMS: ReadonlyMap<string, string> = new Map([
  ['Chrome OS', 'ChromeOS'],
  ['WebOS', 'webOS'],
  ['PlayStation 4', 'PlayStation'],
  ...[
    ...['Android', 'Bada', 'BlackBerry', 'HarmonyOS', 'iOS', 'Linux', 'macOS', 'Roku', 'Tizen'],
    ...['Windows', 'Windows Phone'],
  ].map((name) => [name, name] as const),
])

/** The device a system runs on where the library tells none. */
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

/** Browsers the library takes for the one they are built on, by the mark each leaves. */
export const BROWSER_MARKS: readonly (readonly [mark: RegExp, browser: string])[] = [
  [/\bBrave\b/i, 'Brave'],
  [/\bUC(?:Mobile|WEB|Browser)|\bUBrowser\//, 'UC Browser'],
  [/\b(?:DuckDuckGo|Ddg)\//, 'DuckDuckGo'],
  [/\bGSA\//, 'Google App'],
]

/** Systems the library does not see, by their mark; asked where it tells none. */
export const SYSTEM_MARKS: readonly (readonly [mark: RegExp, system: string])[] = [
  [/\bHarmonyOS\b/, 'HarmonyOS'],
  [/\biOS\b/, 'iOS'],
  [/\bWindows(?:CE)?\b/, 'Windows'],
]
