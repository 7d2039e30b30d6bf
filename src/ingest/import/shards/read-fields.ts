/**
 * Reads the fields that decide where an event goes from its line, as the loader reads them. A line is scanned, and only as
 * far as needed, because `JSON.parse` takes the last value of a name that occurs several times. The loader takes the first
 * that is not null. It rejects lines that are not valid JSON, so it does not matter what is read from them.
 */
import { hasOwnId } from '../../../cluster/sender.js'

/** The texts of a line; a field that is absent or has another type is left out. */
export interface RoutingFields {
  project?: string
  timestamp?: string
  user_id?: string
  ip?: string
  user_agent?: string
}

/** The fields that are read beside those of the sender. */
export interface FieldNeeds {
  readonly project: boolean
  /** Whether the timestamp is wanted, where the user id does not decide alone. */
  readonly timestamp: boolean
}

type Name = keyof RoutingFields

const NAMES = (['project', 'timestamp', 'user_id', 'ip', 'user_agent'] as const).map((name) => ({
  name,
  bytes: Buffer.from(name),
}))

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
 * Reads the line from `start` to `end`, which may be left when it is known where the event goes; undefined for a line that
 * is no object.
 */
export function readFields(
  bytes: Buffer,
  start: number,
  end: number,
  needs: FieldNeeds,
): RoutingFields | undefined {
  const fields: RoutingFields = {}
  const first = bytes[start] === BYTE_ORDER_MARK.first ? start + BYTE_ORDER_MARK.length : start
  let at = skipBlank(bytes, first, end)
  if (bytes[at] !== OPEN_OBJECT) return undefined
  while (at < end) {
    const key = skipBlank(bytes, at + 1, end)
    if (bytes[key] !== QUOTE) break
    const keyEnd = findStringEnd(bytes, key, end)
    const colon = skipBlank(bytes, keyEnd, end)
    if (bytes[colon] !== COLON) break
    const value = skipBlank(bytes, colon + 1, end)
    const valueEnd = findValueEnd(bytes, value, end)
    const name = bytes[value] === QUOTE ? findName(bytes, key, keyEnd) : undefined
    if (name !== undefined && isWanted(name, needs))
      fields[name] ??= readString(bytes, value, valueEnd)
    if (isComplete(fields, needs)) break
    at = skipBlank(bytes, valueEnd, end)
    if (bytes[at] !== COMMA) break
  }
  return fields
}

const isWanted = (name: Name, needs: FieldNeeds): boolean =>
  (name !== 'timestamp' || needs.timestamp) && (name !== 'project' || needs.project)

/** Whether the fields that were read decide where the event goes. */
const isComplete = (
  { user_id: userId = '', ...others }: RoutingFields,
  needs: FieldNeeds,
): boolean =>
  userId !== '' &&
  (others.project !== undefined || !needs.project) &&
  (others.timestamp !== undefined || !needs.timestamp || hasOwnId(userId))

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

/** Finds which of the fields a key is, given with its quotes. Its characters may be escaped. */
function findName(bytes: Buffer, key: number, keyEnd: number): Name | undefined {
  if (hasEscape(bytes, key, keyEnd)) {
    const text = readString(bytes, key, keyEnd)
    return NAMES.find(({ name }) => name === text)?.name
  }
  return NAMES.find((one) => isEqual(bytes, key + 1, keyEnd - 1, one.bytes))?.name
}

function isEqual(bytes: Buffer, start: number, end: number, want: Buffer): boolean {
  if (end - start !== want.length) return false
  for (let i = 0; i < want.length; i += 1) if (bytes[start + i] !== want[i]) return false
  return true
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

function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] === BACKSLASH) return true
  return false
}
