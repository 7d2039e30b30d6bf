/** Finds values by a part of their names, ignoring case, as filters of the API. */
import { matchesName } from '../format/values.js'
import type { Filter } from '../../contract/api.js'
import { toApiFilter, type Field } from '../state/filters.js'

/** The values of a field, the most frequent first. */
export interface KnownValues {
  /** The body of the question that they answer, as JSON. */
  readonly asked: string
  readonly values: readonly string[]
  /** How many there are in all; an answer has at most 1,000. */
  readonly total: number
}

/** How many values a filter of the API may have. */
const MAX_VALUES = 500

/** Selects the values of a field that contain a text; also the missing value, if its name does, such as `Direct`. */
export function buildTextSearch(field: Field, text: string): Filter {
  const contains = toApiFilter({ field, operator: 'contains', values: [text] })
  return matchesName(field, '', text)
    ? {
        type: 'group',
        operator: 'or',
        filters: [contains, toApiFilter({ field, operator: 'is', values: [''] })],
      }
    : contains
}

/** Selects the known values whose names contain a text: `germ` selects the country `DE`. */
export const buildValueSearch = (field: Field, text: string, known: KnownValues): Filter =>
  toApiFilter({
    field,
    operator: 'is',
    values: findValues(field, text, known).slice(0, MAX_VALUES),
  })

/** Describes what a search leaves out; undefined if it is nothing. */
export function describeLimits(field: Field, text: string, known: KnownValues): string | undefined {
  const { values, total } = known
  const format = (count: number): string => count.toLocaleString('en')
  if (findValues(field, text, known).length > MAX_VALUES) {
    return `Only the ${MAX_VALUES} most frequent matches are listed.`
  }
  return total > values.length
    ? `Only the ${format(values.length)} most frequent of ${format(total)} values are searched.`
    : undefined
}

const findValues = (field: Field, text: string, { values }: KnownValues): readonly string[] =>
  values.filter((value) => matchesName(field, value, text))
