/** Where the parts of the chart lie: its scale, and the places and lines in the units of its drawing. */

/** A scale from 0, whose steps are 1, 2 or 5 times a power of ten, or parts of an hour. */
export interface Scale {
  readonly max: number
  /** Where the axis is labelled, from 0 to `max`. */
  readonly ticks: readonly number[]
}

const DECIMAL_STEPS = [1, 2, 5, 10]
/** Steps of durations, in seconds: divisors of a minute and of an hour. */
const DURATION_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600]

export interface ScaleOptions {
  /** Whether values are seconds, which are divided by minutes and hours. */
  readonly isDuration?: boolean
  /** Whether values are whole numbers, so that a step is at least 1. */
  readonly isCount?: boolean
}

/** Builds a scale with about four steps that all values fit into. @param highest the highest value */
export function buildScale(
  highest: number,
  { isDuration = false, isCount = false }: ScaleOptions = {},
): Scale {
  const step = Math.max(chooseStep(Math.max(highest, 1e-9) / 4, isDuration), isCount ? 1 : 0)
  const steps = Math.max(1, Math.ceil(highest / step - 1e-9))
  return {
    max: steps * step,
    ticks: Array.from({ length: steps + 1 }, (_, i) => i * step),
  }
}

function chooseStep(atLeast: number, isDuration: boolean): number {
  const ofDuration = isDuration ? DURATION_STEPS.find((step) => step >= atLeast) : undefined
  if (ofDuration !== undefined) return ofDuration
  const power = 10 ** Math.floor(Math.log10(atLeast))
  return (DECIMAL_STEPS.find((step) => step * power >= atLeast - 1e-12) ?? 10) * power
}

export interface Box {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** A place of the drawing; undefined where there is no value. */
type Place = readonly [x: number, y: number] | undefined

/** Lays out values from left to right. A single value lies in the middle. */
export function place(
  values: readonly (number | undefined)[],
  max: number,
  box: Box,
): readonly Place[] {
  return values.map((value, i) =>
    value === undefined
      ? undefined
      : [placeX(i, values.length, box), box.top + box.height * (1 - (max === 0 ? 0 : value / max))],
  )
}

/** Where the value of an index lies. */
export const placeX = (i: number, count: number, { left, width }: Box): number =>
  left + (count === 1 ? width / 2 : (width * i) / (count - 1))

/** The index of the value that lies next to a place. */
export const findNearest = (x: number, count: number, { left, width }: Box): number =>
  count <= 1 ? 0 : Math.min(count - 1, Math.max(0, Math.round(((x - left) / width) * (count - 1))))

/** Draws a line as the data of an SVG path. It breaks where a value is missing. */
export const drawLine = (places: readonly Place[]): string =>
  places
    .map((at, i) => {
      if (at === undefined) return ''
      return `${places[i - 1] === undefined ? 'M' : 'L'}${format(at[0])} ${format(at[1])}`
    })
    .join('')

/** Draws the area below a line. */
export function drawArea(places: readonly Place[], { top, height }: Box): string {
  const bottom = format(top + height)
  return splitRuns(places)
    .map((run) => {
      const [first, last] = [run[0], run.at(-1)]
      if (first === undefined || last === undefined) return ''
      return `${drawLine(run)}L${format(last[0])} ${bottom}L${format(first[0])} ${bottom}Z`
    })
    .join('')
}

/** The stretches of a line without a gap. */
function splitRuns(places: readonly Place[]): readonly (readonly (readonly [number, number])[])[] {
  const runs: (readonly [number, number])[][] = [[]]
  for (const at of places) {
    if (at === undefined) runs.push([])
    else runs.at(-1)?.push(at)
  }
  return runs.filter(({ length }) => length > 0)
}

const format = (value: number): string => String(Math.round(value * 10) / 10)
