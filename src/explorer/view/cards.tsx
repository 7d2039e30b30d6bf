/** The cards: the metrics of the whole period. The chart shows one of them. */
import type { Query } from '../client/contract.js'
import { describeVisits } from '../queries/filters.js'
import { METRICS } from '../queries/metrics.js'
import { set } from '../state/changes.js'
import { listCardMetrics, type ChartMetric } from '../state/state.js'
import { Currencies } from './currencies.js'
import type { ConditionSource } from './filter-menu.js'
import { Menu } from './menu.js'
import { FailureNote, findShown, type Parts } from './parts.js'
import { QueryMenu } from './query-menu.js'
import { Change, Value } from './value.js'

interface CardsProps extends Parts {
  readonly query: Query | undefined
  /** Whether the value of the goal is in several currencies. */
  readonly hasCurrencies: boolean
  /** What the currencies are found by. */
  readonly source: ConditionSource
}

export function Cards({ query, hasCurrencies, source, ...parts }: CardsProps) {
  const { state, change } = parts
  const shown = findShown(parts, query)
  const visits = describeVisits(state)
  const row = shown.kind === 'ready' ? shown.body.data[0] : undefined
  return (
    <section class="cards" aria-label="Totals of the period">
      <div
        class={shown.kind === 'ready' && shown.isOld ? 'old' : ''}
        role="group"
        aria-label="Metric of the chart"
      >
        {listCardMetrics(state).map((metric) => (
          <button
            key={metric}
            class="card"
            data-metric={metric}
            aria-pressed={state.metric === metric}
            title={METRICS[metric].meaning}
            onClick={() => change(set({ metric }))}
          >
            <span class="name">{METRICS[metric].name}</span>
            <strong>
              {shown.kind === 'waiting' ? (
                <span class="loading">…</span>
              ) : (
                <Value metric={metric} value={row?.metrics[metric]} />
              )}
            </strong>
            <Change metric={metric} change={row?.comparison?.change[metric]} />
          </button>
        ))}
      </div>
      {visits !== undefined && <p class="limits">{visits}</p>}
      {hasCurrencies && (
        <Currencies about="The value of the goal is" source={source} change={change} />
      )}
      {shown.kind === 'failed' && <FailureNote {...parts} failure={shown.failure} />}
      <div class="corner">
        <Meanings metrics={listCardMetrics(state)} />
        <QueryMenu {...parts} query={query} of="Totals" />
      </div>
    </section>
  )
}

/** Says what each card counts. */
function Meanings({ metrics }: { readonly metrics: readonly ChartMetric[] }) {
  return (
    <Menu text="?" label="What the numbers mean" class="help">
      {() => (
        <>
          <dl class="meanings">
            {metrics.map((metric) => (
              <div key={metric}>
                <dt>{METRICS[metric].name}</dt>
                <dd>{METRICS[metric].meaning}</dd>
              </div>
            ))}
          </dl>
          <p>
            <a href="/docs/concepts">More about what is counted</a>
          </p>
          <p>
            <a href="/docs/script#leave-out-your-own-visits">Leave out your own visits</a>
          </p>
        </>
      )}
    </Menu>
  )
}
