/** What the texts of an event must look like; the empty text stands for none and is always right. */
import { isIP } from 'node:net'

const ABSOLUTE_URL =
  /^[A-Za-z][A-Za-z0-9+.-]*:\/\/(?:[^/?#@]*@)?[^/?#@]+[^?#]*(?:\?[^#]*)?(?:#.*)?$/s
const COUNTRY = /^[A-Z]{2}$/

/** A URL with scheme and host. */
export const isAbsoluteUrl = (text: string): boolean => text === '' || ABSOLUTE_URL.test(text)

/** ISO 3166-1 alpha-2. */
export const isCountryCode = (text: string): boolean => text === '' || COUNTRY.test(text)

/** An address of IPv4 or IPv6, without a zone. */
export const isIpAddress = (text: string): boolean =>
  text === '' || (isIP(text) !== 0 && !text.includes('%'))
