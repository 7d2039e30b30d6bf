/** Measures the web vitals of a page that the browser has loaded. Later pageviews of a single-page app have none. */
import { onCLS, onFCP, onINP, onLCP, onTTFB, type MetricType } from 'web-vitals'
import type { Measured, Meter } from './pageleave.js'

/** How many of each unit a value is rounded to: layout shifts are small numbers, all others are milliseconds. */
const SCALES: Readonly<Partial<Record<MetricType['name'], number>>> = { CLS: 10_000 }

export function createVitalsMeter(): Meter {
  let values: Record<string, number> = {}
  let isMeasuring = false

  const keep = ({ name, value }: MetricType): void => {
    if (!isMeasuring) return
    const scale = SCALES[name] ?? 1
    values[name.toLowerCase()] = Math.round(value * scale) / scale
  }

  // Whatever is known when the pageview ends is sent, so every change counts.
  for (const on of [onCLS, onFCP, onINP, onLCP, onTTFB]) on(keep, { reportAllChanges: true })

  return {
    start: (isLoaded) => {
      // What is known before the first pageview belongs to it.
      if (!isLoaded || !isMeasuring) values = {}
      isMeasuring = isLoaded
    },
    read: (): Measured => {
      isMeasuring = false
      return values
    },
  }
}
