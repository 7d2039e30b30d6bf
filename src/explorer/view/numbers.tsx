/** What the numbers of an event property are as a whole, above its values. */
import type { Query } from '../client/contract.js'
import { formatChange, formatCount, formatNumber } from '../format/numbers.js'
import { MEASURES } from '../queries/numbers.js'
import { Currencies, hasCurrencies } from './currencies.js'
import type { ConditionSource } from './filter-menu.js'
import { FailureNote, findShown, type Parts } from './parts.js'
import { QueryMenu } from './query-menu.js'

interface NumbersProps extends Parts {
  readonly query: Query
  readonly source: ConditionSource
}

/** A line of sums and percentiles; nothing while they are not known, and for a property without numbers. */
export function Numbers({ query, source, ...parts }: NumbersProps) {
  const shown = findShown(parts, query)
  if (shown.kind === 'waiting') return null
  if (shown.kind === 'failed') {
    return hasCurrencies(parts, query) ? (
      <Currencies about="The numbers are" source={source} change={parts.change} />
    ) : (
      <FailureNote {...parts} failure={shown.failure} />
    )
  }
  const { data, metadata } = shown.body
  const [row] = data
  // Without a number there is no mean.
  if (typeof row?.metrics['avg'] !== 'number') return null
  const leftOut = metadata?.numbers[0]?.left_out ?? 0
  return (
    <section class={shown.isOld ? 'numbers old' : 'numbers'} aria-label="Numbers">
      <dl>
        {MEASURES.map(([measure, name, meaning]) => {
          const value = row.metrics[measure]
          const change = row.comparison?.change[measure]
          return (
            <div key={measure} data-metric={measure} title={meaning}>
              <dt>{name}</dt>
              <dd>
                {typeof value === 'number' && (
                  <data value={String(value)} title={String(value)}>
                    {formatNumber(value)}
                  </data>
                )}
                {/* Whether more is better depends on what is measured. */}
                {typeof change === 'number' && (
                  <data class="change same" value={String(change)}>
                    {formatChange(change)}
                  </data>
                )}
              </dd>
            </div>
          )
        })}
      </dl>
      <QueryMenu {...parts} query={query} of="Numbers" />
      {leftOut > 0 && <p class="quiet">{formatCount(leftOut)} other values are no numbers.</p>}
    </section>
  )
}
