/** The chart of one metric over time, with the choice of its interval. */
import { readSeries } from '../../chart/series.js'
import { METRICS } from '../../questions/metrics.js'
import type { Question } from '../../client/contract.js'
import { set } from '../../state/changes.js'
import { INTERVALS } from '../../state/state.js'
import { findShown, type Parts } from '../shared/parts.js'
import { QuestionFooter } from '../shared/question-footer.js'
import { Chart } from './chart.js'

export function ChartSection({
  question,
  ...parts
}: Parts & { readonly question: Question | undefined }) {
  const { state, change } = parts
  const shown = findShown(parts, question)
  return (
    <section class="chart" aria-label={`${METRICS[state.metric].name} over time`}>
      <label class="interval">
        <span class="hidden">Interval</span>
        <select
          name="interval"
          value={state.interval}
          onChange={({ currentTarget: { value } }) => {
            const interval = INTERVALS.find((one) => one === value) ?? 'auto'
            change(set({ interval }))
          }}
        >
          {INTERVALS.map((one) => (
            <option key={one} value={one}>
              {one === 'auto' ? 'Automatic' : `By ${one}`}
            </option>
          ))}
        </select>
      </label>
      {shown.kind === 'failed' && <p role="alert">{shown.message}</p>}
      {shown.kind === 'waiting' && <p class="loading">…</p>}
      {shown.kind === 'ready' && (
        <Chart series={readSeries(shown.body, shown.at)} isOld={shown.isOld} />
      )}
      <QuestionFooter {...parts} question={question} />
    </section>
  )
}
