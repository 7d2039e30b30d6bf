/**
 * Sends the event `pageleave` when a pageview ends: when the page is hidden or left for the first time, or when the next pageview
 * of a single-page app begins. It has what was measured until then. Whoever comes back to a tab begins no other pageview, so
 * nothing more is measured.
 */
import type { CallQueue } from '../tally.js'

/** What a pageview measured, by the names of the properties. What is not known is undefined. */
export type Measured = Readonly<Record<string, number | undefined>>

/** Measures pageviews, one after the other. */
export interface Meter {
  /** Begins to measure a pageview. @param isLoaded whether the browser has loaded or restored the page for it */
  start(isLoaded: boolean): void
  /** Reads what the pageview measured. @param isLeft whether the page is being left, and so still shows what it did */
  read(isLeft: boolean): Measured
}

const MINUTE_MS = 60_000
/** A visit ends after 30 minutes without an event: a pageview that lasts for longer ends before that, for what is measured. */
const LONGEST_MS = 29 * MINUTE_MS

/** The state of the tracking script; undefined if the page has replaced it. */
export const findState = (): CallQueue | undefined => window.tally?.q

/**
 * Sends what the meters measure of the pageview that has begun, and of those to come.
 *
 * @param now the clock, in milliseconds; it also advances while the computer sleeps
 */
export function measurePageviews(
  state: CallQueue,
  meters: readonly Meter[],
  now: () => number,
): void {
  let startedAt = 0
  let isRunning = false
  let isRestored = false
  let timer = 0

  const start = (isLoaded: boolean): void => {
    startedAt = now()
    isRunning = true
    for (const meter of meters) meter.start(isLoaded)
    clearTimeout(timer)
    timer = setTimeout(() => {
      send(true)
    }, LONGEST_MS)
  }

  const send = (isLeft: boolean): void => {
    // Without a pageview there is none that ends. A computer that slept wakes up later than its timer.
    const isOfVisit = now() - startedAt < LONGEST_MS + MINUTE_MS
    if (isRunning && state.page !== undefined && isOfVisit) {
      const measured: Measured = meters.reduce(
        (all, meter) => ({ ...all, ...meter.read(isLeft) }),
        {},
      )
      if (Object.keys(measured)[0]) state.push(['pageleave', measured])
    }
    isRunning = isRunning && state.page === undefined
  }

  // The first pageview of a page with `data-manual` may begin long after the page was loaded.
  state.end = () => {
    const isFirst = state.page === undefined
    send(false)
    start(isFirst || isRestored)
    isRestored = false
  }
  addEventListener('pagehide', () => {
    send(true)
    // If the page has another pageview, the browser has restored it.
    isRestored = true
  })
  // On the window, so that what listens on the document has seen that it is hidden.
  addEventListener('visibilitychange', () => {
    if (document.visibilityState == 'hidden') send(true)
  })
  start(true)
}
