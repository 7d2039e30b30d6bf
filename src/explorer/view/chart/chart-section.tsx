/** The chart of one metric over time, with the choice of its interval and the same numbers as a table. */
import { describeLeftOut, readSeries, zoomInto, type Series } from '../../chart/series.js'
import type { Question } from '../../client/contract.js'
import { METRICS } from '../../questions/metrics.js'
import { set } from '../../state/changes.js'
import type { Division } from '../../state/intervals.js'
import { endsNow } from '../../state/periods.js'
import type { ShownInterval } from '../../state/state.js'
import { FailureNote } from '../shared/failure-note.js'
import { findShown, type Parts } from '../shared/parts.js'
import { QuestionFooter } from '../footer/question-footer.js'
import { Select } from '../shared/select.js'
import { Chart } from './chart.js'
import { SeriesTable } from './series-table.js'

const nameInterval = (interval: ShownInterval): string =>
  interval === 'auto' ? 'Automatic interval' : `By ${interval}`

export interface ChartSectionProps extends Parts {
  readonly question: Question | undefined
  readonly division: Division
}

export function ChartSection({ question, division, ...parts }: ChartSectionProps) {
  const { state, change } = parts
  const shown = findShown(parts, question)
  const series =
    shown.kind === 'ready' ? readSeries(shown.body, endsNow(state.period), shown.at) : undefined
  const isNew = shown.kind === 'ready' && !shown.isOld
  const leftOut = isNew && series !== undefined ? describeLeftOut(series) : undefined
  const notes = [division.reason, leftOut].filter((note) => note !== undefined)
  const zoom = ({ points, size }: Series, index: number): void => {
    const labels = points.map(({ label }) => label)
    const period = zoomInto(labels, index, size)
    // A day has hours, and an hour is the smallest bucket.
    if (period !== undefined && points.length > 1) change(set({ period, interval: 'auto' }))
  }
  return (
    <section class="chart" aria-label={`${METRICS[state.metric].name} over time`}>
      <div class="controls">
        <Select
          label="Interval"
          name="interval"
          options={division.options.map((one) => [one, nameInterval(one)])}
          value={division.interval}
          onChange={(interval) => change(set({ interval }))}
        />
      </div>
      {notes.map((note) => (
        <p key={note} class="limits">
          {note}
        </p>
      ))}
      {shown.kind === 'failed' && <FailureNote {...parts} failure={shown.failure} />}
      {shown.kind === 'waiting' && <div class="plot" />}
      {series !== undefined && shown.kind === 'ready' && (
        <>
          <Chart series={series} isOld={shown.isOld} onZoom={(index) => zoom(series, index)} />
          <SeriesTable series={series} isOld={shown.isOld} />
        </>
      )}
      <QuestionFooter {...parts} question={question} />
    </section>
  )
}
