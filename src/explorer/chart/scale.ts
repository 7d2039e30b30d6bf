/** The scale of an axis of numbers. */

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
