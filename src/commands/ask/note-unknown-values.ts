/** Says which values of filters no event has, and which value was meant: a query whose filters select nothing is rarely wanted. */
import { closestMatch } from 'leven'
import { readService } from '../../config/config.js'
import type { FilterOperator } from '../../contract/api.js'
import { PROPERTY_PREFIX } from '../../contract/filter-fields.js'
import { isRecord } from '../../lib/records.js'
import type { CommandContext } from '../shared/context.js'
import { askService } from './service-client.js'

/** A filter as `parseFilter` builds it from words. */
interface WordedFilter {
  readonly field?: string
  readonly property?: string
  readonly operator: FilterOperator
  readonly value: readonly string[]
}

interface ValuesBody {
  readonly data: readonly { readonly value: string }[]
  readonly pagination: { readonly returned: number; readonly total: number }
}

const MAX_VALUES = 1_000
const MAX_NAMED = 5

/** Notes the unknown values of the filters of a body, if the rows of its response count nothing. */
export async function noteUnknownValues(
  { note }: CommandContext,
  {
    date_range,
    time_zone,
    filters = [],
  }: {
    readonly date_range?: unknown
    readonly time_zone?: unknown
    readonly filters?: readonly unknown[]
  },
  rows: readonly unknown[],
): Promise<void> {
  if (countsSomething(rows)) return
  for (const filter of filters.filter(isWordedFilter)) {
    const { property = '', field = PROPERTY_PREFIX + property } = filter
    const known = await listValues({ field, date_range, time_zone, limit: MAX_VALUES })
    if (known === undefined) continue
    for (const value of filter.value.filter((one) => !known.includes(one))) {
      note(`no event of this period has ${field} "${value}"${suggest(field, value, known)}`)
    }
  }
}

/** Whether a number of the rows is not 0. */
const countsSomething = (value: unknown): boolean =>
  typeof value === 'number'
    ? value !== 0
    : typeof value === 'object' && value !== null && Object.values(value).some(countsSomething)

const isWordedFilter = (filter: unknown): filter is WordedFilter =>
  isRecord(filter) && filter['operator'] === 'is' && Array.isArray(filter['value'])

/** Lists all values of a field; undefined if there are too many, or the service does not list them. */
async function listValues(request: object): Promise<readonly string[] | undefined> {
  const { status, body } = await askService(readService(), '/v1/analytics/values', request)
  if (status !== 200) return undefined
  const { data, pagination } = body as ValuesBody
  return pagination.total > pagination.returned ? undefined : data.map(({ value }) => value)
}

/** Names the value that is spelled most alike, or the most frequent ones. */
function suggest(field: string, value: string, known: readonly string[]): string {
  if (known.length === 0) return ''
  const spellings = new Map(
    known.flatMap((one) => spell(field, one).map((spelling) => [spelling.toLowerCase(), one])),
  )
  const maxDistance = Math.ceil(value.length / 3)
  const closest = closestMatch(value.toLowerCase(), [...spellings.keys()], { maxDistance })
  return closest === undefined
    ? `; the most frequent are ${known.slice(0, MAX_NAMED).join(', ')}`
    : `; did you mean "${spellings.get(closest)}"?`
}

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region' })

/** Spells a value as people write it: a country also by its name. */
const spell = (field: string, value: string): readonly string[] =>
  field === 'country' && value !== '' ? [value, COUNTRIES.of(value) ?? value] : [value]
