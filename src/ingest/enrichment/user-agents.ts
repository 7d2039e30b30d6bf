/** What the text of a user agent tells: browser, operating system, kind of device, and whether it is a bot. */
import Bowser from 'bowser'
import { isbot } from 'isbot'
import {
  BROWSER_MARKS,
  BROWSERS,
  DEVICES,
  SYSTEM_MARKS,
  SYSTEMS,
  type DeviceType,
} from './user-agent-names.js'

/** Texts are empty where the user agent does not tell. */
export interface UserAgentInfo {
  readonly browser: string
  readonly os: string
  readonly device_type: DeviceType
  readonly is_bot: boolean
}

/** The libraries these rules come from, and the number of our own tables: to be raised with each change. */
const RULES = { bowser: '2.15.0', isbot: '5.2.3', table: '1' }

/** Names the rules: what was derived by rules of another name is to be derived anew. */
export const AGENTS_VERSION = Object.entries(RULES)
  .map(([part, version]) => `${part} ${version}`)
  .join(', ')

/** The libraries' time grows with the length; real user agents are shorter than this. */
const LONGEST = 1024

const UNKNOWN: UserAgentInfo = { browser: '', os: '', device_type: '', is_bot: false }

/** Devices that are neither desktop nor mobile nor tablet, whatever system they run. */
const TELEVISION =
  /smart-?tv|smarttv|googletv|android tv|apple ?tv|netcast|web0s|hbbtv|bravia|crkey|roku|tizen[^)]*\btv\b|\baft[a-z]{1,4}[ )]/i

/**
 * Describes a user agent. A bot has no browser, system or device; `-`, which logs write for an absent
 * user agent, is one. An iPad that asks for desktop pages says that it is a Mac, and counts as one.
 * Never throws; what follows the 1,024th character is not read.
 */
export function classifyUserAgent(userAgent: string): UserAgentInfo {
  const text = spaced(userAgent.slice(0, LONGEST))
  if (text === '') return UNKNOWN
  if (isbot(text)) return { ...UNKNOWN, is_bot: true }
  const agent = Bowser.parse(text)
  const os = SYSTEMS.get(agent.os.name ?? '') ?? marked(SYSTEM_MARKS, text)
  return {
    browser: marked(BROWSER_MARKS, text) || (BROWSERS.get(agent.browser.name ?? '') ?? ''),
    os,
    device_type: TELEVISION.test(text) ? '' : deviceOf(agent.platform.type ?? '', os),
    is_bot: false,
  }
}

/** The library takes some apps for bots by their name alone; the system then tells the device. */
const deviceOf = (platform: string, os: string): DeviceType =>
  platform === 'desktop' || platform === 'mobile' || platform === 'tablet'
    ? platform
    : platform === 'tv'
      ? ''
      : (DEVICES.get(os) ?? '')

const marked = (marks: readonly (readonly [RegExp, string])[], text: string): string =>
  marks.find(([mark]) => mark.test(text))?.[1] ?? ''

/** Logs whose fields are parted by spaces, as those of IIS, write `+` for a space. */
const spaced = (text: string): string =>
  /^Mozilla\/[0-9.]+\+\(\S*$/.test(text) ? text.replaceAll('+', ' ') : text
