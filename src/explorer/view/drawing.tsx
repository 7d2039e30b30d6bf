/** The drawing of a series: a line with its area, and the comparison behind it. */
import { drawArea, drawLine, place, placeX, type Box, type Scale } from '../chart/layout.js'
import { listPartial, type Series } from '../chart/series.js'
import { chooseTicks, listWeekends } from '../chart/ticks.js'
import { nameTick } from '../format/dates.js'
import { METRICS } from '../queries/metrics.js'

interface DrawingProps {
  readonly series: Series
  readonly scale: Scale
  readonly box: Box
  /** The index of the point that is read. */
  readonly active: number | undefined
  /** The indexes of the points that have notes. */
  readonly noted: readonly number[]
  /** The stretch that is selected, as the first and the last index. */
  readonly selected: readonly [first: number, last: number] | undefined
}

export function Drawing({ series, scale, box, active, noted, selected }: DrawingProps) {
  const { points, isCompared, size } = series
  const placeAll = (values: readonly (number | undefined)[]) => place(values, scale.max, box)
  const places = placeAll(points.map(({ value }) => value))
  const partial = listPartial(series)
  const final = places.map((one, i) => (partial.includes(i) ? undefined : one))
  const at = active === undefined ? undefined : places[active]
  return (
    <svg
      width={box.left + box.width + RIGHT}
      height={box.top + box.height + BOTTOM}
      aria-hidden="true"
    >
      {listWeekends(
        points.map(({ label }) => label),
        size,
      ).map((stretch) => (
        <rect key={stretch[0]} class="weekend" {...placeStretch(stretch, points.length, box)} />
      ))}
      <Axes {...{ series, scale, box }} />
      <path class="area" d={drawArea(places, box)} />
      {isCompared && (
        <path class="compared" d={drawLine(placeAll(points.map(({ compared }) => compared)))} />
      )}
      <path class="line" d={drawLine(final)} />
      {partial.map((i) => (
        <path
          key={i}
          class="line partial"
          d={drawLine(i === 0 ? places.slice(0, 2) : places.slice(i - 1, i + 1))}
        />
      ))}
      {noted.map((i) => {
        const x = placeX(i, points.length, box)
        return (
          <g key={i} class="note">
            <line x1={x} x2={x} y1={box.top} y2={box.top + box.height} />
            <circle cx={x} cy={box.top} r={4} />
          </g>
        )
      })}
      {selected && <rect class="selected" {...placeStretch(selected, points.length, box)} />}
      {at !== undefined && (
        <line class="cursor" x1={at[0]} x2={at[0]} y1={box.top} y2={box.top + box.height} />
      )}
      {(points.length === 1 ? places : [at]).map(
        (dot, i) =>
          dot !== undefined && <circle key={i} class="dot" cx={dot[0]} cy={dot[1]} r={5} />,
      )}
    </svg>
  )
}

/** The room for labels around the box. */
export const [LEFT, TOP, RIGHT, BOTTOM] = [56, 14, 16, 28]

/** How wide a label of the axis of time is, with the space beside it. */
const LABEL_WIDTH = 72

function Axes({ series, scale, box }: Pick<DrawingProps, 'series' | 'scale' | 'box'>) {
  const { metric, points, size } = series
  const count = points.length
  const { format, formatTick = format } = METRICS[metric]
  return (
    <>
      {scale.ticks.map((tick) => {
        const y = box.top + box.height * (1 - tick / scale.max)
        return (
          <g key={tick}>
            <line class="grid" x1={box.left} x2={box.left + box.width} y1={y} y2={y} />
            <text class="tick" x={box.left - 8} y={y + 4} text-anchor="end">
              {formatTick(tick)}
            </text>
          </g>
        )
      })}
      {chooseTicks(
        points.map(({ label }) => label),
        size,
        box.width / LABEL_WIDTH,
      ).map((i) => (
        <text key={i} class="tick" {...placeLabel(i, count, box)} y={box.top + box.height + 20}>
          {nameTick(points[i]?.label ?? '', size)}
        </text>
      ))}
    </>
  )
}

/** The place of a stretch of buckets, each of which reaches half of the way to the next one. */
function placeStretch(
  [first, last]: readonly [number, number],
  count: number,
  box: Box,
): { x: number; y: number; width: number; height: number } {
  const half = count > 1 ? box.width / (count - 1) / 2 : box.width / 2
  const x = Math.max(box.left, placeX(first, count, box) - half)
  const end = Math.min(box.left + box.width, placeX(last, count, box) + half)
  return { x, y: box.top, width: end - x, height: box.height }
}

/** The label of the last point ends where the drawing ends, so that a long one stays in it. */
const placeLabel = (index: number, count: number, box: Box) =>
  index > 0 && index === count - 1
    ? { x: box.left + box.width + RIGHT, 'text-anchor': 'end' as const }
    : { x: placeX(index, count, box), 'text-anchor': 'middle' as const }
