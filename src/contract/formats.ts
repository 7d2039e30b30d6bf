/** The formats of strings that the contract names beyond those of JSON Schema. */
import { isUtcDateOrSecond } from './date-range-format.js'
import { parseInstant } from './timestamps.js'
import { isAbsoluteUrl, isIpAddress, isCountryCode } from './field-formats.js'
import { isText, NOT_TEXT } from '../lib/text.js'

/** One format: how it is tested, and what is said of a string that fails. */
export interface Format {
  readonly type: 'string'
  readonly validate: (text: string) => boolean
  readonly message: string
}

export const FORMATS: Readonly<Record<string, Format>> = {
  'utc-date-or-second': {
    type: 'string',
    validate: isUtcDateOrSecond,
    message: 'must be a UTC date or second that exists: YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ',
  },
  text: {
    type: 'string',
    validate: isText,
    message: NOT_TEXT,
  },
  instant: {
    type: 'string',
    validate: (text) => text === '' || parseInstant(text) !== undefined,
    message: 'must be ISO 8601 with Z or an offset, as 2026-01-31T10:00:00.000Z',
  },
  'absolute-url': {
    type: 'string',
    validate: (text) => isText(text) && isAbsoluteUrl(text),
    message: 'must be absolute, as https://example.com/path',
  },
  country: {
    type: 'string',
    validate: isCountryCode,
    message: 'must be an ISO 3166-1 alpha-2 code, as DE',
  },
  ip: { type: 'string', validate: isIpAddress, message: 'must be an IP address' },
}
