/** Tells what text can be stored and sent. */

/** Whether every character of `text` can be stored and sent: no NUL, no half of a surrogate pair. */
export const isText = (text: string): boolean => !text.includes('\0') && !/\p{Cs}/u.test(text)

export const NOT_TEXT = 'must not contain NUL characters or lone surrogates'
