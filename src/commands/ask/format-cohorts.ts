/** Formats the cohorts of retention as a table or as CSV. */
import type { Cohort } from '../../contract/api.js'
import { writeCsvRow } from '../../http/formats/csv.js'
import { formatTable } from '../shared/output.js'

/** Formats one line per cohort: its first day, its users, and how many came back in each interval after it, with their share. */
export function formatCohortsAsTable(rows: readonly unknown[]): string {
  const cohorts = rows as readonly Cohort[]
  return formatTable([
    ['START', 'USERS', ...(cohorts[0]?.counts ?? []).map((_, i) => `+${i + 1}`)],
    ...cohorts.map(({ start, size, counts }) => [
      start.slice(0, 10),
      size === null ? '-' : String(size),
      ...counts.map((count) => formatShare(count, size)),
    ]),
  ])
}

const formatShare = (count: number | null, size: number | null): string => {
  if (count === null || size === null) return '-'
  return size === 0 ? String(count) : `${count} (${((100 * count) / size).toFixed(1)}%)`
}

/**
 * Formats cohorts as CSV with the columns of the service: a row for each cohort and interval, from that of the cohort itself on, which
 * is 0. Intervals that lie ahead have an empty field.
 */
export function formatCohortsAsCsv(rows: readonly unknown[]): string {
  const lines = (rows as readonly Cohort[]).flatMap(({ start, size, counts }) =>
    [size, ...counts].map((users, interval) => [start, size, interval, users]),
  )
  return [['cohort', 'size', 'interval', 'users'], ...lines].map(writeCsvRow).join('\r\n')
}
