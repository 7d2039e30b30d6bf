/** The chart: a drawing whose points are read by pointer and keyboard, and zoomed into. */
import { useState } from 'preact/hooks'
import { findNearest, placeX, type Box } from '../../chart/layout.js'
import { buildScale } from '../../chart/scale.js'
import { findHighest, type Point, type Series } from '../../chart/series.js'
import { nameBucket } from '../../format/dates.js'
import { formatMetricChange, METRICS } from '../../questions/metrics.js'
import { Change, Value } from '../shared/value.js'
import { BOTTOM, Drawing, LEFT, RIGHT, TOP } from './drawing.js'
import { useWidth } from './use-width.js'

const HEIGHT = 250

export interface ChartProps {
  readonly series: Series
  readonly isOld: boolean
  /** Called with the index of a point that was clicked, or chosen with Enter. */
  readonly onZoom: (index: number) => void
}

export function Chart({ series, isOld, onZoom }: ChartProps) {
  const { ref, width } = useWidth()
  const [active, setActive] = useState<number>()
  const { metric, points } = series
  const count = points.length
  const box = layOut(width)
  const point = active === undefined ? undefined : points[active]
  const move = (event: PointerEvent & { readonly currentTarget: HTMLElement }): void =>
    setActive(
      findNearest(event.clientX - event.currentTarget.getBoundingClientRect().left, count, box),
    )
  return (
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
      onPointerMove={move}
      onPointerLeave={() => setActive(undefined)}
      onFocus={({ currentTarget }) => {
        if (currentTarget.matches(':focus-visible')) setActive((at) => at ?? Math.max(0, count - 1))
      }}
      onBlur={() => setActive(undefined)}
      onClick={() => active !== undefined && onZoom(active)}
      onKeyDown={(event) => {
        const target = findTarget(event.key, active ?? count - 1, count)
        if (event.key === 'Enter' && active !== undefined) onZoom(active)
        else if (target === undefined) return
        else setActive(target)
        event.preventDefault()
      }}
    >
      {width > 0 && (
        <Drawing
          {...{ series, box, active }}
          scale={buildScale(findHighest(series), METRICS[metric].scale)}
        />
      )}
      {point !== undefined && active !== undefined && (
        <Tip {...{ series, point }} x={placeX(active, count, box)} width={width} />
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

/** The point that a key leads to; undefined for keys that lead nowhere. */
function findTarget(key: string, from: number, count: number): number | undefined {
  const targets: Readonly<Record<string, number>> = {
    ArrowLeft: from - 1,
    ArrowRight: from + 1,
    ArrowDown: from - 1,
    ArrowUp: from + 1,
    PageDown: from - 7,
    PageUp: from + 7,
    Home: 0,
    End: count - 1,
  }
  const target = targets[key]
  return target === undefined ? undefined : Math.min(count - 1, Math.max(0, target))
}

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

/** What the pointer reads. */
function Tip({
  series: { metric, size, isRunning, points },
  point,
  x,
  width,
}: {
  readonly series: Series
  readonly point: Point
  readonly x: number
  readonly width: number
}) {
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
    </div>
  )
}
