/** The formats of strings that the contract names beyond those of JSON Schema. */
import { isUtcDateOrSecond } from '../analytics/timestamps.js'

/** One format: how it is tested, and what is said of a string that fails. */
export interface Format {
  readonly type: 'string'
  readonly validate: (text: string) => boolean
  readonly message: string
}

/** Whether every character of `text` can be stored and sent: no NUL, no half of a surrogate pair. */
export const isText = (text: string): boolean => !text.includes('\0') && !/\p{Cs}/u.test(text)

export const FORMATS: Readonly<Record<string, Format>> = {
  'utc-date-or-second': {
    type: 'string',
    validate: isUtcDateOrSecond,
    message: 'must be a UTC date or second that exists: YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ',
  },
  text: {
    type: 'string',
    validate: isText,
    message: 'must not contain NUL characters or lone surrogates',
  },
}
