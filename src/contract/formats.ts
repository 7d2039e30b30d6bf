/** The string formats that the contracts name beyond those of JSON Schema. */
import { isIP } from 'node:net'
import { isText, NOT_TEXT } from '../lib/text.js'
import { isUtcDateOrSecond, parseInstant } from './timestamps.js'

/** One format: its check, and the error message for a string that fails it. */
export interface Format {
  readonly type: 'string'
  /**
   * A regular expression that every valid string matches, and that JavaScript, Python, Java and RE2 read alike. The
   * documents have it beside the format, for tools that do not know the format; the service checks the format alone.
   */
  readonly pattern: string
  readonly validate: (text: string) => boolean
  readonly message: string
}

/** The formats by name. The formats of events accept the empty string: it stands for a missing value. */
export const FORMATS: Readonly<Record<string, Format>> = {
  'utc-date-or-second': {
    type: 'string',
    pattern: String.raw`^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(Z|[+-]\d{2}:\d{2}))?$`,
    validate: isUtcDateOrSecond,
    message:
      'must be a date or second that exists: YYYY-MM-DD, YYYY-MM-DDThh:mm:ssZ or with an offset, such as +02:00',
  },
  text: {
    type: 'string',
    pattern: String.raw`^[^\x00]*$`,
    validate: isText,
    message: NOT_TEXT,
  },
  instant: {
    type: 'string',
    pattern: String.raw`^(\d{4}-\d{2}-\d{2}T.+)?$`,
    validate: (text) => text === '' || parseInstant(text) !== undefined,
    message:
      'must be an ISO 8601 timestamp with Z or a UTC offset, such as 2026-01-31T10:00:00.000Z',
  },
  'absolute-url': {
    type: 'string',
    pattern: String.raw`^([A-Za-z][A-Za-z0-9+.-]*://[^\x00]+)?$`,
    validate: (text) => isText(text) && isAbsoluteUrl(text),
    message: 'must be an absolute URL, such as https://example.com/path',
  },
  country: {
    type: 'string',
    pattern: '^([A-Z]{2})?$',
    validate: isCountryCode,
    message: 'must be an ISO 3166-1 alpha-2 country code, such as DE',
  },
  ip: {
    type: 'string',
    pattern: '^[0-9A-Fa-f:.]*$',
    validate: isIpAddress,
    message: 'must be an IPv4 or IPv6 address',
  },
}

const ABSOLUTE_URL =
  /^[A-Za-z][A-Za-z0-9+.-]*:\/\/(?:[^/?#@]*@)?[^/?#@]+[^?#]*(?:\?[^#]*)?(?:#.*)?$/s
const COUNTRY = /^[A-Z]{2}$/

/** Whether `text` is empty or a URL with a scheme and a host. */
function isAbsoluteUrl(text: string): boolean {
  return text === '' || ABSOLUTE_URL.test(text)
}

/** Whether `text` is empty or two capital letters, as in ISO 3166-1 alpha-2. */
function isCountryCode(text: string): boolean {
  return text === '' || COUNTRY.test(text)
}

/** Whether `text` is empty or an IPv4 or IPv6 address without a zone. */
function isIpAddress(text: string): boolean {
  return text === '' || (isIP(text) !== 0 && !text.includes('%'))
}
