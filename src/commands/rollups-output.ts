/** Prints what a check of the rollups found, for people or programs. */
import { isDeepStrictEqual } from 'node:util'
import type { CheckReport, Difference } from '../rollups/check.js'
import type { Month } from '../rollups/months.js'
import type { CommandContext } from './shared/context.js'
import { formatJson, formatNumber, formatTable } from './shared/output.js'

/** A month as people write it, e.g. `2026-01`. */
export const monthName = (month: Month): string => String(month).replace(/(\d\d)$/, '-$1')

/** Prints how much was compared, and the first groups that differ. */
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
  print(`\n${formatTable([header, ...differences.map(cells)])}`)
  if (different > differences.length) print('and more')
}

function cells(one: Difference): readonly string[] {
  const { rollup, projectId, dimension, value, date, stored, facts } = one
  // Values come from events, and so from anyone: JSON keeps a line one line.
  const group = [rollup, projectId, dimension, JSON.stringify(value), date]
  const others = isDeepStrictEqual(stored, facts) ? ', but others' : ''
  return [...group, counts(stored), counts(facts) + others]
}

const counts = (measures: Readonly<Record<string, number>>): string =>
  Object.entries(measures)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
