/** What the chart says about the point that is read. */
import type { Point, Series } from '../../chart/series.js'
import { nameBucket } from '../../format/dates.js'
import { METRICS } from '../../questions/metrics.js'
import { Change, Value } from '../shared/value.js'

export interface TipProps {
  readonly series: Series
  readonly point: Point
  /** Where the point lies, and how wide the chart is. */
  readonly x: number
  readonly width: number
  /** Called by a button that zooms in, where a click on the point does not. */
  readonly onZoom: (() => void) | undefined
}

export function Tip({
  series: { metric, size, isRunning, points },
  point,
  x,
  width,
  onZoom,
}: TipProps) {
  return (
    <div
      class="tip"
      style={x > width / 2 ? { right: `${width - x + 12}px` } : { left: `${x + 12}px` }}
    >
      <span class="quiet">
        {nameBucket(point.label, size)}
        {isRunning && point === points.at(-1) && ' · so far'}
      </span>
      <span>
        <strong>
          <Value metric={metric} value={point.value} />
        </strong>{' '}
        {METRICS[metric].name} <Change metric={metric} change={point.change} />
      </span>
      {point.compared !== undefined && (
        <span class="quiet">
          <Value metric={metric} value={point.compared} />{' '}
          {point.comparedLabel === undefined
            ? 'before'
            : `· ${nameBucket(point.comparedLabel, size)}`}
        </span>
      )}
      {onZoom !== undefined && (
        <button
          class="control"
          // The focus stays on the chart: without it the tip would be gone before the click.
          onMouseDown={(event) => event.preventDefault()}
          onClick={onZoom}
        >
          Zoom in
        </button>
      )}
    </div>
  )
}
