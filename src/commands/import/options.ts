/** The options of the command `tallyhouse import`. */
import { InvalidArgumentError } from 'commander'
import { UserError } from '../../lib/errors.js'
import type { Format } from '../../ingest/import/formats/format.js'
import type { Mapping } from '../../ingest/import/formats/mapping.js'
import type { Tool } from '../../ingest/import/presets/tools.js'

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

/** Makes of a function that parses a setting one that parses an option. */
export const parsing =
  <Value>(parse: (text: string, previous?: Value) => Value) =>
  (text: string, previous?: Value): Value => {
    try {
      return parse(text, previous)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      const { message } = error
      throw new InvalidArgumentError(`${message.charAt(0).toUpperCase()}${message.slice(1)}.`)
    }
  }
