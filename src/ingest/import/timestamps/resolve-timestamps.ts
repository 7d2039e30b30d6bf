/**
 * Writes the timestamps of lines as the loader reads them. This happens after the chunks are cut: a chunk is recognised by the
 * lines of its source, so it is the same chunk as for a version that accepted fewer timestamps.
 */
import { parseInstant } from '../../../contract/timestamps.js'
import { UTC } from '../../../lib/time-zone.js'
import { NEWLINE } from '../formats/byte-stream.js'
import {
  findName,
  readScalar,
  scanMembers,
  toScannedName,
  type MemberPositions,
} from './json-scan.js'
import { parseFileTimestamp } from './timestamps.js'

interface TimestampOptions {
  /** The IANA name of the zone of timestamps that name none; UTC by default. */
  readonly zone?: string | undefined
  /** Called for each timestamp that names no zone. */
  readonly onZoneless?: (() => void) | undefined
}

const TIMESTAMP = [toScannedName('timestamp')]

/** Rewrites the timestamps of a file's forms. All other bytes stay as they are, and so do timestamps that cannot be read. */
export function resolveTimestamps(bytes: Buffer, options: TimestampOptions): Buffer {
  const parts: Buffer[] = []
  let copied = 0
  for (let start = 0; start < bytes.length;) {
    const lineEnd = bytes.indexOf(NEWLINE, start)
    const end = lineEnd === -1 ? bytes.length : lineEnd
    const found = findTimestamp(bytes, start, end)
    const resolved = found && resolveOne(found.text, options)
    if (found !== undefined && resolved !== undefined) {
      parts.push(bytes.subarray(copied, found.member.value), Buffer.from(`"${resolved}"`))
      copied = found.member.valueEnd
    }
    start = end + 1
  }
  return parts.length === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(copied)])
}

/** Resolves a text to a timestamp of the contract, as the loader will read it; returns other texts as they are. */
export const resolveTimestamp = (text: string, zone?: string): string =>
  resolveOne(text, { zone }) ?? text

/** Returns undefined for a text that stays as it is. */
function resolveOne(
  text: string,
  { zone = UTC, onZoneless }: TimestampOptions,
): string | undefined {
  if (parseInstant(text) !== undefined) return undefined
  const timestamp = parseFileTimestamp(text, zone)
  if (timestamp === undefined) return undefined
  if (timestamp.isZoneless) onZoneless?.()
  return timestamp.at.toISOString()
}

interface FoundTimestamp {
  readonly member: MemberPositions
  readonly text: string
}

/** Finds the timestamp that the loader reads: of several, the first that is a string or a number. */
function findTimestamp(bytes: Buffer, start: number, end: number): FoundTimestamp | undefined {
  let found: FoundTimestamp | undefined
  scanMembers(bytes, start, end, (member) => {
    if (findName(bytes, member, TIMESTAMP) === undefined) return false
    const text = readScalar(bytes, member)
    if (text !== undefined) found = { member, text }
    return found !== undefined
  })
  return found
}
