/** Decides which text can be stored and sent. */

/** Returns whether `text` can be stored and sent: it has no NUL characters and no lone surrogates. */
export const isText = (text: string): boolean => !text.includes('\0') && !/\p{Cs}/u.test(text)

/** The error message for a string that is not text. */
export const NOT_TEXT = 'must not contain NUL characters or lone surrogates'

/** Returns the first characters of a text. Characters are code points, of one or two UTF-16 units. */
export const takeCharacters = (text: string, count: number): string =>
  text.length > count
    ? Array.from(text.slice(0, 2 * count))
        .slice(0, count)
        .join('')
    : text
