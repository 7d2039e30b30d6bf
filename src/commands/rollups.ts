/** The commands `tallyhouse rollups check | rebuild`. */
import type { Connection } from '../clickhouse/connection.js'
import { finishInterruptedWork } from '../ingest/loader/loader.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { requireProject } from '../projects/store.js'
import { checkRollups } from '../rollups/check.js'
import { rebuildRollups } from '../rollups/rebuild.js'
import type { MonthsOptions } from '../rollups/process-months.js'
import { UserError } from '../lib/errors.js'
import { formatDuration } from '../lib/time.js'
import type { AddCommand, CommandContext } from './shared/context.js'
import { withStore } from './shared/with-store.js'
import { formatNumber } from './shared/output.js'
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
      withStore(context, 'rollups check', async ({ store, loader }) => {
        const months = await buildMonthsOptions(context, store.reader, loader, options, 'compared')
        const report = await checkRollups(store.writer, months)
        printReport(context, report, options)
        if (report.different === 0) return
        const groups =
          report.different === 1
            ? '1 group differs'
            : `${formatNumber(report.different)} groups differ`
        throw new UserError(`${groups}; run tallyhouse rollups rebuild to recompute them`)
      }),
    )

  rollups
    .command('rebuild')
    .description('Recompute the rollups from the events, while queries are served')
    .option('--project <id>', 'Rebuild only this project')
    .action((options: RollupsOptions) =>
      withStore(context, 'rollups rebuild', async ({ store, loader }) => {
        const months = await buildMonthsOptions(context, store.reader, loader, options, 'rebuilt')
        await rebuildRollups(store.writer, months)
      }),
    )
}

/** Builds the options of a check or a rebuild, which goes month by month and prints a line after each. */
async function buildMonthsOptions(
  { note }: CommandContext,
  reader: Connection,
  loader: LoaderContext,
  { project: projectId }: RollupsOptions,
  done: string,
): Promise<MonthsOptions> {
  if (projectId !== undefined) await requireProject(reader, projectId)
  return {
    projectId,
    finishInterruptedWork: (writer) => finishInterruptedWork(writer, loader),
    onMonth: (month, left) => {
      const rest = left.months === 0 ? '' : `; about ${formatDuration(left.ms)} left`
      note(`${formatMonth(month)} ${done}${rest}`)
    },
  }
}
