/** Parses the options of the command `tallyhouse import`. */
import { InvalidArgumentError } from 'commander'
import { isTimeZone } from '../../lib/time-zone.js'
import { FIELDS } from '../../model/event-fields.js'
import type { Format } from '../../ingest/import/formats/format.js'
import type { Tool } from '../../ingest/import/presets/tools.js'
import { parseTarget, type Mapping } from '../../ingest/import/formats/mapping.js'

export interface ImportCommandOptions {
  readonly project?: string
  readonly format?: Format
  readonly map?: Mapping
  readonly from?: Tool
  readonly origin?: string
  readonly zone?: string
  readonly dryRun?: boolean
  readonly strict?: boolean
  readonly json?: boolean
}

/**
 * Adds one `<field>=<column>` to the mapping.
 *
 * @throws InvalidArgumentError for another form, an unknown field, and a field that is mapped already
 */
export function addToMapping(text: string, previous: Mapping = new Map()): Mapping {
  const at = text.indexOf('=')
  const [field, column] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 1 || column === '') {
    throw new InvalidArgumentError('Expected <field>=<column>, such as user_id=uuid.')
  }
  if (parseTarget(field) === undefined) {
    const names = [...FIELDS.keys(), 'properties.<name>'].join(', ')
    throw new InvalidArgumentError(`An event has no field ${field}; its fields are ${names}.`)
  }
  if (previous.has(field)) throw new InvalidArgumentError(`The field ${field} is mapped twice.`)
  return new Map([...previous, [field, column]])
}

/**
 * Parses the IANA name of a time zone.
 *
 * @throws InvalidArgumentError for a zone that is not known
 */
export function parseZone(text: string): string {
  if (isTimeZone(text)) return text
  throw new InvalidArgumentError('Expected the IANA name of a time zone, such as Europe/Berlin.')
}

/**
 * Parses an http or https origin; a path is not allowed.
 *
 * @throws InvalidArgumentError for anything else
 */
export function parseOrigin(text: string): string {
  const isOrigin = URL.canParse(text) && /^https?:\/\/[^/?#@]+\/?$/i.test(text)
  if (isOrigin) return new URL(text).origin
  throw new InvalidArgumentError('Expected a scheme and a host, such as https://example.com.')
}
