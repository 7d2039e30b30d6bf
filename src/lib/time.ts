/** Durations in milliseconds, and the calendar in UTC. */

export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** Returns the start of the UTC hour that `moment` lies in. */
export const startOfHour = (moment: Date): Date => new Date(floorTo(moment, HOUR_MS))

/** Returns the first moment of the UTC day that `moment` lies in. */
export const startOfDay = (moment: Date): Date => new Date(floorTo(moment, DAY_MS))

/** Returns the first moment of the UTC month that `moment` lies in, shifted by `months` (earlier if negative). */
export function startOfMonth(moment: Date, months = 0): Date {
  const start = startOfDay(moment)
  // Not Date.UTC(): it reads the years 0 to 99 as 1900 to 1999.
  start.setUTCMonth(start.getUTCMonth() + months, 1)
  return start
}

/** Returns the first moment of the UTC year that `moment` lies in. */
export function startOfYear(moment: Date): Date {
  const start = startOfDay(moment)
  start.setUTCMonth(0, 1)
  return start
}

/** Returns the start of the second that `moment` lies in. */
export const startOfSecond = (moment: Date): Date => new Date(floorTo(moment, SECOND_MS))

/** Adds a duration in milliseconds, which may be negative. */
export const addMs = (moment: Date, ms: number): Date => new Date(moment.getTime() + ms)

/** Adds days of 24 hours, which may be negative. */
export const addDays = (moment: Date, days: number): Date => addMs(moment, days * DAY_MS)

/** Formats the UTC day of a moment as `2026-01-31`. */
export const formatDay = (moment: Date): string => moment.toISOString().slice(0, 10)

/** Formats a duration of seconds to hours, to the next larger unit: `20 s`, `5 min`, `3 h`. */
export function formatDuration(ms: number): string {
  if (ms < 2 * MINUTE_MS) return `${Math.ceil(ms / SECOND_MS)} s`
  return ms < 2 * HOUR_MS ? `${Math.ceil(ms / MINUTE_MS)} min` : `${Math.ceil(ms / HOUR_MS)} h`
}

const floorTo = (moment: Date, unit: number): number => Math.floor(moment.getTime() / unit) * unit
