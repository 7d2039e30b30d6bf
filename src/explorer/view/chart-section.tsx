/** The chart of one metric over time, with the choice of its interval and the same numbers as a table. */
import type { Note } from '../../contract/management-api.js'
import { placeNotes } from '../chart/notes.js'
import { describeLeftOut, readSeries, zoomInto, type Series } from '../chart/series.js'
import type { Query, QueryResponse } from '../client/contract.js'
import { nameBucket } from '../format/dates.js'
import { METRICS } from '../queries/metrics.js'
import { set } from '../state/changes.js'
import { nameSize, type Division } from '../state/intervals.js'
import { clockIn, dateIn, endsNow, nameMoments, toPreset } from '../state/periods.js'
import type { ShownInterval } from '../state/state.js'
import { Chart } from './chart.js'
import { Select } from './controls.js'
import { FailureNote, findShown, type Parts } from './parts.js'
import { QueryMenu } from './query-menu.js'
import { useList } from './use-list.js'
import { Change, Value } from './value.js'

const nameInterval = (interval: ShownInterval): string =>
  interval === 'auto' ? 'Automatic interval' : `By ${nameSize(interval)}`

interface ChartSectionProps extends Parts {
  readonly query: Query | undefined
  readonly division: Division
  /** The id of the project; undefined while it is not known. */
  readonly projectId: string | undefined
}

export function ChartSection({ query, division, projectId, ...parts }: ChartSectionProps) {
  const { state, change } = parts
  const zone = state.zone ?? parts.ownZone
  const shown = findShown(parts, query)
  const noted = useList(parts.api, projectId, 'notes')
  const series =
    shown.kind === 'ready'
      ? readSeries(shown.body, {
          endsNow: endsNow(state.period, dateIn(zone, shown.at)),
          now: shown.at,
          zone,
          fillsDay: state.period === 'today',
        })
      : undefined
  const isNew = shown.kind === 'ready' && !shown.isOld
  const notes = [
    division.reason,
    isNew && series !== undefined ? describeLeftOut(series) : undefined,
    isNew ? describeUnmeasured(query, shown.body, parts.since, zone) : undefined,
  ].filter((note) => note !== undefined)
  const zoom: SeriesZoom = ({ points, size }, first, last) => {
    const labels = points.map(({ label }) => label)
    const period = zoomInto(labels, size, first, last)
    if (period === undefined || points.length < 2 || shown.kind !== 'ready') return
    change(set({ period: toPreset(period, dateIn(zone, shown.at)), interval: 'auto' }))
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
        <QueryMenu {...parts} query={query} of="Chart" />
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
          <NotedChart
            {...{ series, zone, zoom }}
            notes={noted}
            response={shown.body}
            isOld={shown.isOld}
          />
          <SeriesTable series={series} isOld={shown.isOld} />
        </>
      )}
    </section>
  )
}

type SeriesZoom = (series: Series, first: number, last: number) => void

interface NotedChartProps {
  /** All notes of the project. */
  readonly notes: readonly Note[]
  readonly series: Series
  readonly response: QueryResponse
  readonly isOld: boolean
  readonly zone: string
  readonly zoom: SeriesZoom
}

/** The chart between its legend and the notes of its period. */
function NotedChart({ series, response, isOld, zone, zoom, notes: all }: NotedChartProps) {
  const { from, to } = response.period
  const notes = all.filter(
    ({ at, until }) =>
      Date.parse(until ?? at) >= Date.parse(from) && Date.parse(at) < Date.parse(to) + 1000,
  )
  const labels = series.points.map(({ label }) => label)
  return (
    <>
      <Legend {...response} zone={zone} />
      <Chart
        {...{ series, zone, isOld }}
        notes={placeNotes(notes, labels)}
        onZoom={(first, last) => zoom(series, first, last)}
      />
      <Notes notes={notes} zone={zone} />
    </>
  )
}

/** Says why a response has no comparison that was asked for; undefined if it has one, or none was. */
function describeUnmeasured(
  query: Query | undefined,
  { comparison }: QueryResponse,
  since: string | undefined,
  zone: string,
): string | undefined {
  const isAsked = query !== undefined && 'compare' in query.body
  return isAsked && comparison === undefined && since !== undefined
    ? `Not compared: events are counted since ${nameBucket(clockIn(zone, new Date(since)), 'day')}.`
    : undefined
}

/** What happened in the period. */
function Notes({ notes, zone }: { readonly notes: readonly Note[]; readonly zone: string }) {
  if (notes.length === 0) return null
  return (
    <ul class="notes" aria-label="Notes">
      {notes.map(({ id, at, until, text }) => (
        <li key={id}>
          <span class="quiet">
            {until === null
              ? nameBucket(clockIn(zone, new Date(at)), 'minute')
              : nameMoments({ from: at, to: until }, zone)}
          </span>{' '}
          {text}
        </li>
      ))}
    </ul>
  )
}

/** Which period is which line, and in which time zone. */
function Legend({
  period,
  comparison,
  zone,
}: Pick<QueryResponse, 'period' | 'comparison'> & { readonly zone: string }) {
  return (
    <p class="legend">
      <span class="of-line">{nameMoments(period, zone)}</span>
      {comparison && <span class="of-compared">{nameMoments(comparison.period, zone)}</span>}
      <span>{zone.replaceAll('_', ' ')}</span>
    </p>
  )
}

interface SeriesTableProps {
  readonly series: Series
  readonly isOld: boolean
}

/** The numbers of the chart as a table. */
function SeriesTable({ series, isOld }: SeriesTableProps) {
  const { metric, points, size, isCompared } = series
  return (
    <details class="as-table">
      <summary>As a table</summary>
      <div tabIndex={0} role="region" aria-label="The numbers of the chart">
        <table class={isOld ? 'old' : ''}>
          <thead>
            <tr>
              <th scope="col">{size}</th>
              <th scope="col">{METRICS[metric].name}</th>
              {isCompared && <th scope="col">Before</th>}
              {isCompared && <th scope="col">Change</th>}
            </tr>
          </thead>
          <tbody>
            {points.map(({ label, value, compared, change }) => (
              <tr key={label} data-value={label}>
                <th scope="row">{nameBucket(label, size)}</th>
                <td>
                  <Value metric={metric} value={value} />
                </td>
                {isCompared && (
                  <td>
                    <Value metric={metric} value={compared} />
                  </td>
                )}
                {isCompared && (
                  <td>
                    <Change metric={metric} change={change} />
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}
