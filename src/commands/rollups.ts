/** The commands `tallyhouse rollups rebuild | check`. */
import type { Connection } from '../clickhouse/connection.js'
import { finishInterruptedWork } from '../ingest/loader/loader.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { requireProject } from '../projects/store.js'
import { checkRollups } from '../rollups/check.js'
import { rebuildRollups } from '../rollups/rebuild.js'
import type { MonthsOptions } from '../rollups/shadow-tables.js'
import { UserError } from '../lib/errors.js'
import type { AddCommand, CommandContext } from './shared/context.js'
import { withStore } from './shared/with-store.js'
import { formatNumber } from './shared/output.js'
import { monthName, printReport } from './rollups-output.js'

interface RollupsOptions {
  readonly project?: string
  readonly json?: boolean
}

export const addRollups: AddCommand = (program, context) => {
  const rollups = program
    .command('rollups')
    .description('check and rebuild the counts by day and month that are kept beside the events')

  rollups
    .command('check')
    .description('compare them with the events, and exit with 1 where they differ')
    .option('--project <id>', 'of this project alone')
    .option('--json', 'print JSON')
    .action((options: RollupsOptions) =>
      withStore(context, 'rollups check', async ({ store, loader }) => {
        const months = await monthsOf(context, store.reader, loader, options, 'is compared')
        const report = await checkRollups(store.writer, months)
        printReport(context, report, options)
        if (report.different === 0) return
        const groups =
          report.different === 1
            ? '1 group differs'
            : `${formatNumber(report.different)} groups differ`
        throw new UserError(`${groups}; tallyhouse rollups rebuild counts them anew`)
      }),
    )

  rollups
    .command('rebuild')
    .description('count them anew from the events; questions are answered meanwhile')
    .option('--project <id>', 'of this project alone')
    .action((options: RollupsOptions) =>
      withStore(context, 'rollups rebuild', async ({ store, loader }) => {
        const months = await monthsOf(context, store.reader, loader, options, 'is rebuilt')
        await rebuildRollups(store.writer, months)
      }),
    )
}

/** The months to go through, each with a line when it is done. */
async function monthsOf(
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
    onMonth: (month) => note(`${monthName(month)} ${done}`),
  }
}
