/** Reads the options of the command `tallyhouse import`. */
import { InvalidArgumentError } from 'commander'
import { FIELDS } from '../../model/event-fields.js'
import type { Format } from '../../ingest/import/formats/format.js'
import { parseTarget, type Mapping } from '../../ingest/import/formats/mapping.js'

export interface ImportCommandOptions {
  readonly project?: string
  readonly format?: Format
  readonly map?: Mapping
  readonly origin?: string
  readonly dryRun?: boolean
  readonly strict?: boolean
  readonly json?: boolean
}

/** Adds `<field>=<column>` to the mapping. */
export function addToMapping(text: string, before: Mapping = new Map()): Mapping {
  const at = text.indexOf('=')
  const [field, column] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 1 || column === '') {
    throw new InvalidArgumentError('It is <field>=<column>, such as user_id=uuid.')
  }
  if (parseTarget(field) === undefined) {
    const names = [...FIELDS.keys(), 'properties.<name>'].join(', ')
    throw new InvalidArgumentError(`An event has no field ${field}; it has ${names}.`)
  }
  if (before.has(field)) throw new InvalidArgumentError(`The field ${field} is mapped twice.`)
  return new Map([...before, [field, column]])
}

/** An origin without anything behind it. */
export function originOption(text: string): string {
  const isOrigin = URL.canParse(text) && /^https?:\/\/[^/?#@]+\/?$/i.test(text)
  if (isOrigin) return new URL(text).origin
  throw new InvalidArgumentError('It is a scheme and a host, such as https://example.com.')
}
