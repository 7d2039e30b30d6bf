/** What the page says of amounts in several currencies: nothing adds them up. */
import { PROPERTY_PREFIX } from '../../contract/filter-fields.js'
import type { Query } from '../client/contract.js'
import { addFilter } from '../state/changes.js'
import { useValues, type ConditionSource } from './filter-menu.js'
import type { Parts } from './parts.js'

/** The property with the currency of amounts. */
const CURRENCY = `${PROPERTY_PREFIX}currency`

/** The member of a query that is refused if its amounts are in several currencies: the first metric. */
const AMOUNTS = 'metrics.0'

/** Whether a query was refused because the amounts of its first metric are in several currencies. */
export function hasCurrencies(
  { responses }: Pick<Parts, 'responses'>,
  query: Query | undefined,
): boolean {
  const body = query && responses.get(query)?.answered.result.body
  const [refused] = body !== undefined && 'error' in body ? (body.error.details ?? []) : []
  // Another refusal of the metric, such as that of a goal without a value, names a member of it.
  return refused?.field === AMOUNTS
}

interface CurrenciesProps extends Pick<Parts, 'change'> {
  /** What has several currencies, such as `The value of the goal is`. */
  readonly about: string
  /** What the currencies are found by. */
  readonly source: ConditionSource
}

/** Says that there are several currencies, and offers each of them as a filter. */
export function Currencies({ about, source, change }: CurrenciesProps) {
  const currencies = useValues(source, CURRENCY, '', true)
  return (
    <p class="limits">
      {about} in several currencies. Filter by one of them:{' '}
      {currencies.map((currency) => (
        <button
          key={currency}
          class="control"
          onClick={() => change(addFilter({ field: CURRENCY, operator: 'is', values: [currency] }))}
        >
          {currency}
        </button>
      ))}
    </p>
  )
}
