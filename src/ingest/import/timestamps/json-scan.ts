/**
 * Scans the members of an object in a line of JSON without parsing it: names may occur several times, which `JSON.parse` hides,
 * and only as much is read as needed. What it finds in a line that is not valid JSON has no meaning; the loader rejects it.
 */

/** A name to look for. */
interface ScannedName<Name extends string = string> {
  readonly name: Name
  readonly bytes: Buffer
}

export const toScannedName = <Name extends string>(name: Name): ScannedName<Name> => ({
  name,
  bytes: Buffer.from(name),
})

/** The positions of a member: its name with the quotes, and its value. Each end is the position after it. */
export interface MemberPositions {
  readonly key: number
  readonly keyEnd: number
  readonly value: number
  readonly valueEnd: number
}

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_LIST = 91
const BACKSLASH = 92
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
const SPACE = 32
/** The first byte of a byte order mark in UTF-8, which the loader skips, and its length. */
const BYTE_ORDER_MARK = { first: 0xef, length: 3 }

/**
 * Visits the members of the line from `start` to `end` in order, until `visit` returns true.
 *
 * @returns whether the line is an object
 */
export function scanMembers(
  bytes: Buffer,
  start: number,
  end: number,
  visit: (member: MemberPositions) => boolean,
): boolean {
  const first = bytes[start] === BYTE_ORDER_MARK.first ? start + BYTE_ORDER_MARK.length : start
  let at = skipBlank(bytes, first, end)
  if (bytes[at] !== OPEN_OBJECT) return false
  while (at < end) {
    const key = skipBlank(bytes, at + 1, end)
    if (bytes[key] !== QUOTE) break
    const keyEnd = findStringEnd(bytes, key, end)
    const colon = skipBlank(bytes, keyEnd, end)
    if (bytes[colon] !== COLON) break
    const value = skipBlank(bytes, colon + 1, end)
    const valueEnd = findValueEnd(bytes, value, end)
    if (visit({ key, keyEnd, value, valueEnd })) break
    at = skipBlank(bytes, valueEnd, end)
    if (bytes[at] !== COMMA) break
  }
  return true
}

/** Finds which of the names a member has; undefined if it has another. Its characters may be escaped. */
export function findName<Name extends string>(
  bytes: Buffer,
  { key, keyEnd }: MemberPositions,
  names: readonly ScannedName<Name>[],
): Name | undefined {
  if (hasEscape(bytes, key, keyEnd)) {
    const text = readString(bytes, key, keyEnd)
    return names.find(({ name }) => name === text)?.name
  }
  return names.find((one) => isEqual(bytes, key + 1, keyEnd - 1, one.bytes))?.name
}

/** Whether the value of a member is a string. */
export const isString = (bytes: Buffer, { value }: MemberPositions): boolean =>
  bytes[value] === QUOTE

/** Reads the text of a value that is a string or a number; undefined for all others. */
export function readScalar(
  bytes: Buffer,
  { value, valueEnd }: MemberPositions,
): string | undefined {
  if (bytes[value] === QUOTE) return readString(bytes, value, valueEnd)
  const text = bytes.toString('latin1', value, valueEnd).trimEnd()
  return /^\d/.test(text) ? text : undefined
}

/** Reads a string, given with its quotes; the empty text if it is not valid JSON. */
function readString(bytes: Buffer, start: number, end: number): string {
  if (!hasEscape(bytes, start, end)) return bytes.toString('utf8', start + 1, end - 1)
  try {
    return JSON.parse(bytes.toString('utf8', start, end)) as string
  } catch {
    return ''
  }
}

/** Returns the position of the next byte that is no white space: nothing below a space is anything else in JSON. */
function skipBlank(bytes: Buffer, from: number, end: number): number {
  let at = from
  while (at < end && (bytes[at] ?? 0) <= SPACE) at += 1
  return at
}

/** Returns the position after the string that begins at `quote`. */
function findStringEnd(bytes: Buffer, quote: number, end: number): number {
  for (let at = quote + 1; at < end; at += 1) {
    if (bytes[at] === QUOTE) return at + 1
    if (bytes[at] === BACKSLASH) at += 1
  }
  return end
}

/** Returns the position after a value: that of the comma or bracket that follows it. */
function findValueEnd(bytes: Buffer, value: number, end: number): number {
  if (bytes[value] === QUOTE) return findStringEnd(bytes, value, end)
  let depth = 0
  for (let at = value; at < end; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) at = findStringEnd(bytes, at, end) - 1
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      if (depth === 0) return at
      depth -= 1
    } else if (byte === COMMA && depth === 0) return at
  }
  return end
}

function isEqual(bytes: Buffer, start: number, end: number, want: Buffer): boolean {
  if (end - start !== want.length) return false
  for (let i = 0; i < want.length; i += 1) if (bytes[start + i] !== want[i]) return false
  return true
}

function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] === BACKSLASH) return true
  return false
}
