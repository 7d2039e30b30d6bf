/** The settings of an import as texts: what the command and the operation of management take, checked in one place. */
import { FieldValueError, UserError } from '../../lib/errors.js'
import { isTimeZone } from '../../lib/time-zone.js'
import { FIELDS } from '../../model/event-fields.js'
import type { Format } from './formats/format.js'
import { NO_MAPPING, parseTarget, type Mapping } from './formats/mapping.js'
import type { OpenOptions } from './open-rows.js'
import type { Tool } from './presets/tools.js'

/** How a file is to be imported. */
export interface ImportSettings {
  readonly format?: Format
  /** Each `<field>=<column>`. */
  readonly map?: readonly string[]
  /** The tool that exported the file. */
  readonly from?: Tool
  readonly origin?: string
  /** The IANA name of the zone of timestamps without one. */
  readonly zone?: string
  readonly strict?: boolean
  readonly dryRun?: boolean
}

/** The settings that the preset of a tool stands for. */
const BESIDE_TOOL = ['format', 'map', 'origin', 'zone'] as const

/** Parses settings. @throws FieldValueError that names the setting */
export function parseSettings(
  settings: ImportSettings,
): Pick<OpenOptions, 'format' | 'mapping' | 'tool' | 'origin' | 'zone'> {
  const { format, map = [], from, origin, zone } = settings
  const other = BESIDE_TOOL.find((name) => settings[name] !== undefined)
  if (from !== undefined && other !== undefined) {
    throw new FieldValueError(other, `cannot be combined with from, which stands for it`)
  }
  const parse = <Value>(field: string, read: () => Value): Value => {
    try {
      return read()
    } catch (error) {
      throw error instanceof UserError ? new FieldValueError(field, error.message) : error
    }
  }
  return {
    format,
    tool: from,
    mapping: parse('map', () => map.reduce((all, one) => addToMapping(one, all), NO_MAPPING)),
    origin: origin === undefined ? origin : parse('origin', () => parseOrigin(origin)),
    zone: zone === undefined ? zone : parse('zone', () => parseZone(zone)),
  }
}

/**
 * Adds one `<field>=<column>` to a mapping.
 *
 * @throws UserError for another form, an unknown field, and a field that is mapped already
 */
export function addToMapping(text: string, previous: Mapping = NO_MAPPING): Mapping {
  const at = text.indexOf('=')
  const [field, column] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 1 || column === '') {
    throw new UserError('expected <field>=<column>, such as user_id=uuid')
  }
  if (parseTarget(field) === undefined) {
    const names = [...FIELDS.keys(), 'properties.<name>'].join(', ')
    throw new UserError(`an event has no field ${field}; its fields are ${names}`)
  }
  if (previous.has(field)) throw new UserError(`the field ${field} is mapped twice`)
  return new Map([...previous, [field, column]])
}

/** Parses the IANA name of a time zone. @throws UserError for a zone that is not known */
export function parseZone(text: string): string {
  if (isTimeZone(text)) return text
  throw new UserError('expected the IANA name of a time zone, such as Europe/Berlin')
}

/** Parses an http or https origin; a path is not allowed. @throws UserError for anything else */
export function parseOrigin(text: string): string {
  const isOrigin = URL.canParse(text) && /^https?:\/\/[^/?#@]+\/?$/i.test(text)
  if (isOrigin) return new URL(text).origin
  throw new UserError('expected a scheme and a host, such as https://example.com')
}
