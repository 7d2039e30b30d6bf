/** The commands `tallyhouse rollups check | rebuild`. */
import type { OpenedCluster, OpenedShard } from '../bootstrap/open-cluster.js'
import { finishInterruptedWork } from '../ingest/loader/loader.js'
import { requireProject } from '../projects/store.js'
import { checkRollups, type CheckReport } from '../rollups/check.js'
import { rebuildRollups } from '../rollups/rebuild.js'
import type { MonthsOptions } from '../rollups/process-months.js'
import { formatNumber } from '../lib/counts.js'
import { UserError } from '../lib/errors.js'
import { formatDuration } from '../lib/time.js'
import type { AddCommand, CommandContext } from './shared/context.js'
import { findStores, nameLines } from './shared/shards.js'
import { withStore } from './shared/with-store.js'
import { formatMonth, printReport } from './rollups-output.js'

interface RollupsOptions {
  readonly project?: string
  readonly json?: boolean
}

export const addRollups: AddCommand = (program, context) => {
  const rollups = program
    .command('rollups')
    .description('Check and rebuild the rollups: counts per day and month, kept beside the events')

  rollups
    .command('check')
    .description('Compare the rollups with the events, and exit with 1 if they differ')
    .option('--project <id>', 'Check only this project')
    .option('--json', 'Print JSON')
    .action((options: RollupsOptions) =>
      withStore(context, 'rollups check', async (opened) => {
        const reports: CheckReport[] = []
        for (const one of await findStores(opened, options.project)) {
          const months = await buildMonthsOptions(context, opened, one, options, 'compared')
          const own = await checkRollups(one.store.writer, months)
          const name = nameLines(opened, one)
          // The report does not say on which shard a group differs.
          if (opened.stores.length > 1) context.note(name(describeDifferent(own)))
          reports.push(own)
        }
        const report = sumReports(reports)
        printReport(context, report, options)
        if (report.different === 0) return
        throw new UserError(
          `${describeDifferent(report)}; run tallyhouse rollups rebuild to recompute them`,
        )
      }),
    )

  rollups
    .command('rebuild')
    .description('Recompute the rollups from the events, while queries are served')
    .option('--project <id>', 'Rebuild only this project')
    .action((options: RollupsOptions) =>
      withStore(context, 'rollups rebuild', async (opened) => {
        for (const one of await findStores(opened, options.project)) {
          const months = await buildMonthsOptions(context, opened, one, options, 'rebuilt')
          await rebuildRollups(one.store.writer, months)
        }
      }),
    )
}

const describeDifferent = ({ different }: CheckReport): string =>
  different === 1 ? '1 group differs' : `${formatNumber(different)} groups differ`

/** Adds the reports of several shards. Their months are mostly the same, so the most of one count. */
const sumReports = (reports: readonly CheckReport[]): CheckReport => ({
  months: Math.max(...reports.map(({ months }) => months)),
  groups: reports.reduce((sum, { groups }) => sum + groups, 0),
  different: reports.reduce((sum, { different }) => sum + different, 0),
  differences: reports.flatMap(({ differences }) => differences),
})

/** Builds the options of a check or a rebuild of a store, which goes month by month and prints a line after each. */
async function buildMonthsOptions(
  { note }: CommandContext,
  opened: OpenedCluster,
  one: OpenedShard,
  { project: projectId }: RollupsOptions,
  done: string,
): Promise<MonthsOptions> {
  if (projectId !== undefined) await requireProject(one.store.reader, projectId)
  const name = nameLines(opened, one)
  return {
    projectId,
    finishInterruptedWork: (writer) => finishInterruptedWork(writer, one.loader),
    onMonth: (month, left) => {
      const rest = left.months === 0 ? '' : `; about ${formatDuration(left.ms)} left`
      note(name(`${formatMonth(month)} ${done}${rest}`))
    },
  }
}
