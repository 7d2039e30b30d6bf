/** The chart: a drawing whose points are read by pointer, finger and keyboard, and zoomed into. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { buildScale, placeX, type Box } from '../chart/layout.js'
import { findHighest, type Point, type Series } from '../chart/series.js'
import { isOfClock, nameBucket } from '../format/dates.js'
import { formatMetricChange, METRICS } from '../queries/metrics.js'
import { BOTTOM, Drawing, LEFT, RIGHT, TOP } from './drawing.js'
import { useReading, type Zoom } from './use-reading.js'
import { Change, Value } from './value.js'

const HEIGHT = 250

interface ChartProps {
  readonly series: Series
  readonly isOld: boolean
  /** What happened, by the index of the point. */
  readonly notes: ReadonlyMap<number, readonly string[]>
  /** The time zone of the page. */
  readonly zone: string
  /**
   * Called with the indexes of the points that were selected by a drag or by Shift and arrow keys; with one alone that was clicked,
   * or chosen with Enter or, after a touch, the button beside it.
   */
  readonly onZoom: Zoom
}

export function Chart({ series, isOld, zone, notes, onZoom }: ChartProps) {
  const { ref, width } = useWidth()
  const { metric, points, running } = series
  const count = points.length
  const box = layOut(width)
  const latest = running ?? Math.max(0, count - 1)
  const { active, selected, zoomByTouch, ofChart, onFocusOut } = useReading({
    count,
    latest,
    box,
    onZoom,
  })
  const point = active === undefined ? undefined : points[active]
  return (
    <div class="reader" onFocusOut={onFocusOut}>
      <div
        ref={ref}
        class={isOld ? 'plot old' : 'plot'}
        tabIndex={0}
        role="slider"
        aria-label={`${METRICS[metric].name} over time. Arrow keys read the points, with Shift they select, Enter zooms in.`}
        aria-valuemin={1}
        aria-valuemax={Math.max(1, count)}
        aria-valuenow={(active ?? 0) + 1}
        aria-valuetext={[
          describePoint(series, points[active ?? 0], zone),
          ...(notes.get(active ?? 0) ?? []),
        ].join(', ')}
        {...ofChart}
      >
        {width > 0 && (
          <Drawing
            {...{ series, box, active, selected }}
            noted={[...notes.keys()]}
            scale={buildScale(findHighest(series), METRICS[metric].scale)}
          />
        )}
      </div>
      {point !== undefined && active !== undefined && (
        <Tip
          {...{ series, point, width, zone }}
          notes={notes.get(active) ?? []}
          until={selected && points[selected[0] === active ? selected[1] : selected[0]]}
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

/** Names the bucket of a point; one that is no day or longer with the zone of its clock. */
const namePoint = ({ label }: Point, size: Series['size'], zone: string): string =>
  isOfClock(size)
    ? `${nameBucket(label, size)} ${zone.replaceAll('_', ' ')}`
    : nameBucket(label, size)

/** Reads a point in words. */
function describePoint({ metric, size }: Series, point: Point | undefined, zone: string): string {
  if (point === undefined) return ''
  const { name, format } = METRICS[metric]
  const { value, compared, change } = point
  return [
    `${namePoint(point, size, zone)}: ${value === undefined ? 'no' : format(value)} ${name}`,
    ...(compared === undefined ? [] : [`before: ${format(compared)}`]),
    ...(change === undefined ? [] : [formatMetricChange(metric, change)]),
  ].join(', ')
}

interface TipProps extends Pick<ChartProps, 'zone'> {
  readonly series: Series
  readonly point: Point
  /** What happened then. */
  readonly notes: readonly string[]
  /** The other end of the selection, if there is one. */
  readonly until: Point | undefined
  /** Where the point lies, and how wide the chart is. */
  readonly x: number
  readonly width: number
  /** Called by a button that zooms in, where a click on the point does not. */
  readonly onZoom: (() => void) | undefined
}

/** In pixels. */
const TIP_DISTANCE = 12
const MAX_TIP_WIDTH = 240

/** What the chart says about the point that is read. */
function Tip({ series, point, notes, until, zone, x, width, onZoom }: TipProps) {
  const { metric, size, running, points } = series
  const ends = [point, ...(until === undefined ? [] : [until])].toSorted(
    (a, b) => points.indexOf(a) - points.indexOf(b),
  )
  // It stands where there is more room, and is never wider than that: on a phone its lines wrap.
  const [side, distance] = x > width / 2 ? ['right', width - x] : ['left', x]
  const start = distance + TIP_DISTANCE
  return (
    <div
      class="tip"
      style={{ [side]: `${start}px`, maxWidth: `${Math.min(width - start, MAX_TIP_WIDTH)}px` }}
    >
      <span class="quiet">
        {ends.map((end) => namePoint(end, size, zone)).join(' – ')}
        {running !== undefined && point === points[running]
          ? ' · so far'
          : point.isPart === true && ' · in part'}
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
      {notes.map((note, i) => (
        <span key={i} class="note">
          {note}
        </span>
      ))}
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

/**
 * Measures an element, so that drawings are as wide as their place.
 *
 * @returns what refers to the element, and its width in pixels; 0 until it is known
 */
function useWidth() {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const element = ref.current
    if (element === null) return
    const measure = (): void => setWidth(element.clientWidth)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { ref, width }
}
