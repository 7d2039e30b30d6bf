/** Tells whether the end of a date range is written as the contract wants it. */

const FORM = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}Z)?$/

/** Whether `text` is a UTC date or second, `YYYY-MM-DD` or `YYYY-MM-DDThh:mm:ssZ`, that exists. */
export function isUtcDateOrSecond(text: string): boolean {
  if (!FORM.test(text) || text.startsWith('0000')) return false
  const second = text.length === 10 ? `${text}T00:00:00Z` : text
  const time = Date.parse(second)
  // Date.parse moves 30 February to 2 March, and 24:00:00 to the next day: what moved did not exist.
  return !Number.isNaN(time) && new Date(time).toISOString() === second.replace('Z', '.000Z')
}
