/** Reads NDJSON of foreign names: each line is an object whose keys a mapping names. */
import { convertLines } from './convert-lines.js'
import { targetsOf, type Mapping, type Target } from './mapping.js'
import { PASSED_OVER } from './rows.js'
import { eventLine, foreignJson } from './values.js'

/** @param onPassedOver is told of each line that has none of the mapped keys. */
export function readMapped(
  source: AsyncIterable<Buffer>,
  mapping: Mapping,
  onPassedOver: () => void,
): AsyncGenerator<Buffer> {
  const keys = [...mapping.values()]
  const known = new Map<string, readonly Target[]>()
  const targetsOfKey = (key: string): readonly Target[] => {
    const targets = known.get(key) ?? targetsOf(key, mapping)
    known.set(key, targets)
    return targets
  }
  return convertLines(source, (line) => {
    const object = objectOf(line)
    // What is no object is for the loader to refuse.
    if (object === undefined) return line
    if (!keys.some((key) => Object.hasOwn(object, key))) {
      onPassedOver()
      return PASSED_OVER
    }
    return eventLine(
      Object.entries(object).flatMap(([key, value]) =>
        targetsOfKey(key).map((target) => [target, foreignJson(target, value)] as const),
      ),
    )
  })
}

function objectOf(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
