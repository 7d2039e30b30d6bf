/** The chart: a drawing whose points are read by pointer, finger and keyboard, and zoomed into. */
import { buildScale, placeX, type Box } from '../../chart/layout.js'
import { findHighest, type Point, type Series } from '../../chart/series.js'
import { nameBucket } from '../../format/dates.js'
import { formatMetricChange, METRICS } from '../../questions/metrics.js'
import { BOTTOM, Drawing, LEFT, RIGHT, TOP } from './drawing.js'
import { Tip } from './tip.js'
import { useReading } from './use-reading.js'
import { useWidth } from './use-width.js'

const HEIGHT = 250

export interface ChartProps {
  readonly series: Series
  readonly isOld: boolean
  /** Called with the index of a point that was clicked, or chosen with Enter or, after a touch, the button beside it. */
  readonly onZoom: (index: number) => void
}

export function Chart({ series, isOld, onZoom }: ChartProps) {
  const { ref, width } = useWidth()
  const { metric, points } = series
  const count = points.length
  const box = layOut(width)
  const { active, zoomByTouch, ofChart, onFocusOut } = useReading(count, box, onZoom)
  const point = active === undefined ? undefined : points[active]
  return (
    <div class="reader" onFocusOut={onFocusOut}>
      <div
        ref={ref}
        class={isOld ? 'plot old' : 'plot'}
        tabIndex={0}
        role="slider"
        aria-label={`${METRICS[metric].name} over time. Arrow keys read the points, Enter zooms in.`}
        aria-valuemin={1}
        aria-valuemax={Math.max(1, count)}
        aria-valuenow={(active ?? 0) + 1}
        aria-valuetext={describePoint(series, points[active ?? 0])}
        {...ofChart}
      >
        {width > 0 && (
          <Drawing
            {...{ series, box, active }}
            scale={buildScale(findHighest(series), METRICS[metric].scale)}
          />
        )}
      </div>
      {point !== undefined && active !== undefined && (
        <Tip
          {...{ series, point, width }}
          x={placeX(active, count, box)}
          onZoom={count > 1 ? zoomByTouch : undefined}
        />
      )}
    </div>
  )
}

/** The place of the lines, with room for labels around it. @param width of the whole chart */
const layOut = (width: number): Box => ({
  left: LEFT,
  top: TOP,
  width: Math.max(0, width - LEFT - RIGHT),
  height: HEIGHT - TOP - BOTTOM,
})

/** Reads a point in words. */
function describePoint({ metric, size }: Series, point: Point | undefined): string {
  if (point === undefined) return ''
  const { name, format } = METRICS[metric]
  const { label, value, compared, change } = point
  return [
    `${nameBucket(label, size)}: ${value === undefined ? 'no' : format(value)} ${name}`,
    ...(compared === undefined ? [] : [`before: ${format(compared)}`]),
    ...(change === undefined ? [] : [formatMetricChange(metric, change)]),
  ].join(', ')
}
