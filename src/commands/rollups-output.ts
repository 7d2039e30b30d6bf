/** Prints the report of a check of the rollups, as tables or as JSON. */
import { isDeepStrictEqual } from 'node:util'
import type { CheckReport, Difference } from '../rollups/check.js'
import type { Month } from '../rollups/months.js'
import { formatNumber } from '../lib/counts.js'
import type { CommandContext } from './shared/context.js'
import { formatJson, formatTable } from './shared/output.js'

/** Formats a month as `2026-01`. */
export const formatMonth = (month: Month): string => String(month).replace(/(\d\d)$/, '-$1')

/** Prints how many groups were compared, and samples of those that differ. */
export function printReport(
  { print }: CommandContext,
  report: CheckReport,
  options: { readonly json?: boolean },
): void {
  if (options.json === true) {
    print(formatJson(report))
    return
  }
  const { months, groups, different, differences } = report
  print(
    formatTable([
      ['months', formatNumber(months)],
      ['groups', formatNumber(groups)],
      ['differ', different === 0 ? 'none' : formatNumber(different)],
    ]),
  )
  if (differences.length === 0) return
  const header = ['ROLLUP', 'PROJECT', 'DIMENSION', 'VALUE', 'DATE', 'STORED', 'EVENTS']
  print(`\n${formatTable([header, ...differences.map(formatDifference)])}`)
  if (different > differences.length) print('… and more')
}

function formatDifference(difference: Difference): readonly string[] {
  const { rollup, projectId, dimension, value, other, date, stored, facts } = difference
  // Values come from events, so anyone can choose them. As JSON, a value cannot break the line.
  const values = [value, ...(other === undefined ? [] : [other])].map((one) => JSON.stringify(one))
  const group = [rollup, projectId, dimension, values.join(', '), date]
  // A bitmap can hold other users than the events and still the same number of them.
  const note = isDeepStrictEqual(stored, facts) ? ' (different ones)' : ''
  return [...group, formatMeasures(stored), formatMeasures(facts) + note]
}

const formatMeasures = (measures: Readonly<Record<string, number>>): string =>
  Object.entries(measures)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
