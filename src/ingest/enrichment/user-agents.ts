/** Classifies user agents: browser, operating system, device type, and whether it is a bot. */
import type { DeviceType } from '../../contract/api.js'
import Bowser from 'bowser'
import { isbot } from 'isbot'
import { BROWSER_MARKS, BROWSERS, DEVICES, SYSTEM_MARKS, SYSTEMS } from './user-agent-names.js'

/** Texts are empty if unknown. */
interface UserAgentInfo {
  readonly browser: string
  readonly os: string
  readonly device_type: DeviceType | ''
  readonly is_bot: boolean
}

/** The versions of the libraries and of `user-agent-names.ts`. Raise `table` with each change of that file. */
const VERSIONS = { bowser: '2.15.0', isbot: '5.2.3', table: '1' }

/** Identifies the rules. User agents are stored with it, and classified again when it changes. */
export const AGENTS_VERSION = Object.entries(VERSIONS)
  .map(([part, version]) => `${part} ${version}`)
  .join(', ')

/** Limits the time that the libraries take for a text; real user agents are shorter. */
const MAX_LENGTH = 1024

const UNKNOWN: UserAgentInfo = { browser: '', os: '', device_type: '', is_bot: false }

/** Televisions: neither desktop nor mobile nor tablet, whatever their system. */
const TELEVISION =
  /smart-?tv|smarttv|googletv|android tv|apple ?tv|netcast|web0s|hbbtv|bravia|crkey|roku|tizen[^)]*\btv\b|\baft[a-z]{1,4}[ )]/i

/**
 * Classifies a user agent by its first 1,024 characters. A bot has no browser, system or device; `-`, which logs
 * write for a missing user agent, is a bot. An iPad that requests desktop pages claims to be a Mac and counts as one.
 * Never throws.
 */
export function classifyUserAgent(userAgent: string): UserAgentInfo {
  if (isBot(userAgent)) return { ...UNKNOWN, is_bot: true }
  const text = prepare(userAgent)
  if (text === '') return UNKNOWN
  const agent = Bowser.parse(text)
  const os = SYSTEMS.get(agent.os.name ?? '') ?? findMark(SYSTEM_MARKS, text)
  return {
    browser: findMark(BROWSER_MARKS, text) || (BROWSERS.get(agent.browser.name ?? '') ?? ''),
    os,
    device_type: TELEVISION.test(text) ? '' : classifyDevice(agent.platform.type ?? '', os),
    is_bot: false,
  }
}

/**
 * Whether a user agent is that of a bot, by its first 1,024 characters. The collector and the loader both ask here: what
 * the one announces, the other excludes. Never throws.
 */
export function isBot(userAgent: string): boolean {
  const text = prepare(userAgent)
  return text !== '' && isbot(text)
}

const prepare = (userAgent: string): string => restoreSpaces(userAgent.slice(0, MAX_LENGTH))

function classifyDevice(platform: string, os: string): DeviceType | '' {
  if (platform === 'desktop' || platform === 'mobile' || platform === 'tablet') return platform
  if (platform === 'tv') return ''
  // Bowser mistakes some apps for bots by their name alone; their system still decides the device.
  return DEVICES.get(os) ?? ''
}

const findMark = (marks: readonly (readonly [RegExp, string])[], text: string): string =>
  marks.find(([mark]) => mark.test(text))?.[1] ?? ''

/** Restores spaces that a log wrote as `+`, as IIS does because spaces separate its fields. */
const restoreSpaces = (text: string): string =>
  /^Mozilla\/[0-9.]+\+\(\S*$/.test(text) ? text.replaceAll('+', ' ') : text
