/** Reads NDJSON with foreign names: a mapping says which key of each object gives which field. */
import { SKIPPED_LINE } from '../../inbox/line-marks.js'
import { convertLines } from './convert-lines.js'
import { SourceError } from './format.js'
import { findTargets, type Mapping, type Target } from './mapping.js'
import { buildEventLine, foreignValueToJson, parseJsonObject } from './event-line.js'

/**
 * Converts each object to the line of an event.
 *
 * @throws SourceError at the end, if there are objects and none has a mapped key
 * @param onSkipped called for each line that has none of the mapped keys
 */
export function readMappedNdjson(
  source: AsyncIterable<Buffer>,
  mapping: Mapping,
  onSkipped: () => void,
): AsyncGenerator<Buffer> {
  const keys = [...mapping.values()]
  let objects = 0
  let skipped = 0
  const cache = new Map<string, readonly Target[]>()
  const findCachedTargets = (key: string): readonly Target[] => {
    const targets = cache.get(key) ?? findTargets(key, mapping)
    cache.set(key, targets)
    return targets
  }
  const lines = convertLines(source, (line) => {
    const object = parseJsonObject(line)
    // The loader rejects a line that is not an object.
    if (object === undefined) return line
    objects++
    if (!keys.some((key) => Object.hasOwn(object, key))) {
      skipped++
      onSkipped()
      return SKIPPED_LINE
    }
    return buildEventLine(
      Object.entries(object).flatMap(([key, value]) =>
        findCachedTargets(key).map(
          (target) => [target, foreignValueToJson(target, value)] as const,
        ),
      ),
    )
  })
  return requireMappedKey(lines, () => {
    if (objects === 0 || skipped < objects) return
    throw new SourceError(`has no row with a key that --map names: ${keys.join(', ')}`)
  })
}

/** Passes lines on, and checks at the end what they were made of. */
async function* requireMappedKey(
  lines: AsyncGenerator<Buffer>,
  check: () => void,
): AsyncGenerator<Buffer> {
  yield* lines
  check()
}
