/** The command `tallyhouse usage`: what projects used, by day or month. */
import { Option, type Command } from 'commander'
import { formatUsageCsv } from '../http/management/usage-csv.js'
import { formatNumber } from '../lib/counts.js'
import { formatDay, startOfMonth } from '../lib/time.js'
import { requireProject } from '../projects/store.js'
import { listDeletedProjects } from '../usage/deleted-usage.js'
import { readUsage, type Usage, type UsageInterval } from '../usage/read-usage.js'
import type { AddCommand, CommandContext } from './shared/context.js'
import { appendValue, parseDay } from './shared/options.js'
import { formatJson, formatTable } from './shared/output.js'
import { withStore } from './shared/with-store.js'

interface UsageOptions {
  readonly project?: readonly string[]
  readonly from?: Date
  readonly to?: Date
  readonly interval: UsageInterval
  readonly json?: boolean
  readonly csv?: boolean
}

const INTERVALS: readonly UsageInterval[] = ['day', 'month']

export const addUsage: AddCommand = (program, context) => {
  program
    .command('usage')
    .description('Show what projects used: events by what became of them, queries, and bytes')
    .option('--project <id>', 'Only this project; repeat it for several', appendValue)
    .option('--from <day>', 'First day in UTC (default: the first of the month)', parseDay)
    .option('--to <day>', 'Last day in UTC (default: today)', parseDay)
    .addOption(
      new Option('--interval <interval>', 'One row per day or month')
        .choices(INTERVALS)
        .default('month'),
    )
    .addOption(new Option('--json', 'Print JSON').conflicts('csv'))
    .option('--csv', 'Print CSV')
    .action((options: UsageOptions, command: Command) => showUsage(context, options, command))
}

async function showUsage(
  context: CommandContext,
  options: UsageOptions,
  command: Command,
): Promise<void> {
  const now = context.now()
  const { from = startOfMonth(now), to = now, interval, project: projectIds } = options
  if (formatDay(from) > formatDay(to)) command.error('error: --from must not be later than --to')
  const rows = await withStore(context, 'usage', async ({ store, cluster }) => {
    const all = { after: '', limit: MAX_DELETED, orgs: [] }
    const deleted = new Set(await listDeletedProjects(cluster.home.store.writer, all))
    for (const id of projectIds ?? []) {
      if (!deleted.has(id)) await requireProject(store.reader, id)
    }
    return readUsage(cluster, {
      from,
      to,
      interval,
      ...(projectIds !== undefined && { projectIds }),
      deleted: { ids: projectIds ?? [...deleted], orgs: [] },
    })
  })
  if (options.json === true) context.print(formatJson(rows))
  else if (options.csv === true) context.print(formatUsageCsv(rows))
  else context.print(formatRows(rows))
}

/** How many deleted projects are listed. */
const MAX_DELETED = 1_000_000

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0)

const HEADER = [
  ...['PROJECT', 'START', 'ACCEPTED', 'COUNTED', 'EXCLUDED', 'REJECTED'],
  ...['REPEATED', 'WAITING', 'QUERIES', 'BYTES'],
]

/** Excluded and rejected events as one number each: CSV and JSON have the reasons. */
const formatRows = (rows: readonly Usage[]): string =>
  formatTable(
    [
      HEADER,
      ...rows.map((row) => [
        row.isDeleted ? `${row.project} (deleted)` : row.project,
        row.start,
        ...[row.accepted, row.counted, sum(row.excluded), sum(row.rejected)].map(formatNumber),
        ...[row.repeated, row.waiting, row.queries, row.bytes].map(formatNumber),
      ]),
    ],
    (column) => column > 1,
  )
