/** Measures for how long a page was in front of somebody, and how far down they have seen it. */
import type { Meter } from './pageleave.js'

/** When a page of a single-page app is there, after its pageview has begun. */
const SHOWN_AFTER_MS = 500

export function createEngagementMeter(): Meter {
  let engagedMs = 0
  /** Since when the page is visible and has the focus; undefined while it is not. */
  let since: number | undefined
  /** The lowest pixel that was visible, and the height of the page. */
  let lowest = 0
  let height = 0
  let timer = 0

  const isEngaged = (): boolean => document.visibilityState == 'visible' && document.hasFocus()

  const count = (): void => {
    const now = performance.now()
    if (since !== undefined) engagedMs += now - since
    since = isEngaged() ? now : undefined
  }

  const look = (): void => {
    height = document.documentElement.scrollHeight
    lowest = Math.max(lowest, scrollY + innerHeight)
  }

  for (const type of ['focus', 'blur', 'visibilitychange']) addEventListener(type, count)
  for (const type of ['scroll', 'load']) addEventListener(type, look)

  return {
    start: () => {
      since = undefined
      count()
      engagedMs = lowest = height = 0
      clearTimeout(timer)
      timer = setTimeout(look, SHOWN_AFTER_MS)
    },
    read: (isLeft) => {
      count()
      // The next page may be there already.
      if (isLeft) look()
      return {
        engaged_seconds: Math.round(engagedMs / 100) / 10,
        scroll_percent: height > 0 ? Math.min(100, Math.round((100 * lowest) / height)) : undefined,
      }
    },
  }
}
