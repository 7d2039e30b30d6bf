/** The chart: a drawing whose points are read by pointer, finger and keyboard, and zoomed into. */
import type { TargetedFocusEvent, TargetedKeyboardEvent, TargetedPointerEvent } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { buildScale, findNearest, placeX, type Box } from '../chart/layout.js'
import { findHighest, type Point, type Series } from '../chart/series.js'
import { nameBucket } from '../format/dates.js'
import { formatMetricChange, METRICS } from '../queries/metrics.js'
import { BOTTOM, Drawing, LEFT, RIGHT, TOP } from './drawing.js'
import { Change, Value } from './value.js'

const HEIGHT = 250

interface ChartProps {
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

interface TipProps {
  readonly series: Series
  readonly point: Point
  /** Where the point lies, and how wide the chart is. */
  readonly x: number
  readonly width: number
  /** Called by a button that zooms in, where a click on the point does not. */
  readonly onZoom: (() => void) | undefined
}

/** What the chart says about the point that is read. */
function Tip({ series: { metric, size, isRunning, points }, point, x, width, onZoom }: TipProps) {
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

/**
 * Follows which point of the chart is read: by pointer, by finger, or by keyboard.
 *
 * @param count how many points there are
 * @param box where they lie
 * @param onZoom called with the index of a point to zoom into
 */
function useReading(count: number, box: Box, onZoom: (index: number) => void) {
  const [active, setActive] = useState<number>()
  const [isTouch, setIsTouch] = useState(false)
  const stop = (): void => setActive(undefined)
  const read = (event: { clientX: number; currentTarget: HTMLElement }): void =>
    setActive(
      findNearest(event.clientX - event.currentTarget.getBoundingClientRect().left, count, box),
    )
  const zoom = (): void => {
    if (active !== undefined) onZoom(active)
  }
  return {
    /** The index of the point that is read; undefined while none is. */
    active,
    /** Zooms into the point that a finger reads; undefined if none does. */
    zoomByTouch: isTouch
      ? () => {
          stop()
          zoom()
        }
      : undefined,
    /** The handlers of the chart. */
    ofChart: {
      onPointerDown: ({ pointerType }: TargetedPointerEvent<HTMLElement>) =>
        setIsTouch(pointerType === 'touch'),
      onPointerMove: (event: TargetedPointerEvent<HTMLElement>) => {
        setIsTouch(event.pointerType === 'touch')
        // A touch elsewhere then takes the focus away, which ends the reading.
        if (event.pointerType === 'touch') event.currentTarget.focus({ preventScroll: true })
        read(event)
      },
      onPointerLeave: ({ pointerType }: TargetedPointerEvent<HTMLElement>) => {
        if (pointerType !== 'touch') stop()
      },
      onPointerCancel: stop,
      onFocus: ({ currentTarget }: TargetedFocusEvent<HTMLElement>) => {
        if (currentTarget.matches(':focus-visible')) setActive((at) => at ?? Math.max(0, count - 1))
      },
      // A finger cannot point without a tap, so its tap reads.
      onClick: (event: { clientX: number; currentTarget: HTMLElement }) =>
        isTouch ? read(event) : zoom(),
      onKeyDown: (event: TargetedKeyboardEvent<HTMLElement>) => {
        const target = findTarget(event.key, active ?? count - 1, count)
        if (event.key === 'Enter' && active !== undefined) zoom()
        else if (target === undefined) return
        else setActive(target)
        event.preventDefault()
      },
    },
    /** Called when the focus leaves the chart or what is beside it. */
    onFocusOut: ({ currentTarget, relatedTarget }: TargetedFocusEvent<HTMLElement>) => {
      if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) stop()
    },
  }
}

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
