/** The drawing of a series: a line with its area, and the comparison behind it. */
import { chooseTicks, drawArea, drawLine, place, placeX, type Box } from '../../chart/layout.js'
import { buildScale, type Scale } from '../../chart/scale.js'
import { findHighest, type Series } from '../../chart/series.js'
import { nameTick } from '../../format/dates.js'
import { METRICS } from '../../questions/metrics.js'

const [WIDTH, HEIGHT] = [1000, 280]
const BOX: Box = { left: 56, top: 10, width: WIDTH - 70, height: HEIGHT - 40 }

export function Chart({ series, isOld }: { readonly series: Series; readonly isOld: boolean }) {
  const { metric, points, isRunning, isCompared } = series
  const scale = buildScale(findHighest(series), {
    isDuration: metric === 'visit_duration',
    isCount: !['bounce_rate', 'visit_duration'].includes(metric),
  })
  const places = place(
    points.map(({ value }) => value),
    scale.max,
    BOX,
  )
  const compared = place(
    points.map((point) => point.compared),
    scale.max,
    BOX,
  )
  const final = isRunning ? places.slice(0, -1) : places
  return (
    <svg
      class={isOld ? 'old' : ''}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`${METRICS[metric].name} over time`}
    >
      <Axes {...{ series, scale }} />
      {isCompared && <path class="compared" d={drawLine(compared)} />}
      <path class="area" d={drawArea(places, BOX)} />
      <path class="line" d={drawLine(final)} />
      {isRunning && <path class="line running" d={drawLine(places.slice(-2))} />}
    </svg>
  )
}

/** The lines and the labels of both axes. */
function Axes({ series, scale }: { readonly series: Series; readonly scale: Scale }) {
  const { metric, points, size } = series
  const { ticks, max } = scale
  return (
    <>
      {ticks.map((tick) => {
        const y = BOX.top + BOX.height * (1 - tick / max)
        return (
          <g key={tick}>
            <line class="grid" x1={BOX.left} x2={BOX.left + BOX.width} y1={y} y2={y} />
            <text class="tick" x={BOX.left - 8} y={y + 4} text-anchor="end">
              {METRICS[metric].format(tick)}
            </text>
          </g>
        )
      })}
      {chooseTicks(points.length, 10).map((i) => (
        <text
          key={i}
          class="tick"
          x={placeX(i, points.length, BOX)}
          y={HEIGHT - 8}
          text-anchor="middle"
        >
          {nameTick(points[i]?.label ?? '', size)}
        </text>
      ))}
    </>
  )
}
