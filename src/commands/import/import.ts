/** The command `tallyhouse import`. */
import { Option } from 'commander'
import type { OpenedCluster } from '../../bootstrap/open-cluster.js'
import { FORMATS } from '../../ingest/import/formats/format.js'
import { requireSuccess } from '../../ingest/import/import-file.js'
import { addToMapping, parseOrigin, parseZone } from '../../ingest/import/import-settings.js'
import { TOOLS } from '../../ingest/import/presets/tools.js'
import { countAffected } from '../../ingest/loader/affected.js'
import { addReports, EMPTY_REPORT, type LoadReport } from '../../ingest/loader/load-report.js'
import { requireProject } from '../../projects/store.js'
import type { AddCommand, CommandContext } from '../shared/context.js'
import { startStopwatch } from '../shared/stopwatch.js'
import { withStore } from '../shared/with-store.js'
import { importOne, type Imported } from './import-one.js'
import { parsing, type ImportCommandOptions } from './options.js'
import { findSources, type ImportSource } from './sources.js'
import { printSummary, type ImportTotal } from './summary.js'

export const addImport: AddCommand = (program, context) => {
  program
    .command('import')
    .description(
      'Import events from files: NDJSON, CSV, Parquet, Arrow or access logs, plain or gzipped',
    )
    .argument(
      '<file...>',
      'Files or patterns such as "logs/*.gz", imported in this order; - reads standard input',
    )
    .option('--project <id>', 'Project of all rows (default: the field "project" of each row)')
    .addOption(
      new Option('--format <format>', 'Format of the files (default: detected)').choices(FORMATS),
    )
    .option(
      '--map <field=column>',
      'Read a field from a column, such as user_id=uuid or properties.plan=tier; repeatable; ' +
        'columns that are neither mapped nor fields of events are then ignored',
      parsing(addToMapping),
    )
    .addOption(
      new Option('--from <tool>', 'Tool that exported the files: see docs/imports.md')
        .choices(TOOLS)
        .conflicts(['format', 'map', 'origin', 'zone']),
    )
    .option(
      '--origin <origin>',
      'Origin of the site whose access log is imported, such as https://example.com',
      parsing(parseOrigin),
    )
    .option(
      '--zone <zone>',
      'IANA time zone of timestamps without a zone, such as Europe/Berlin (default: UTC)',
      parsing(parseZone),
    )
    .option('--dry-run', 'Report what an import would do, and import nothing')
    .option(
      '--strict',
      'Stop at the first chunk of rows with a rejected one, import none of that chunk and exit with 1',
    )
    .option('--json', 'Print the summary as JSON')
    .addHelpText(
      'after',
      '\nRejected rows and their reasons are written to <file>.rejected.ndjson, or stdin.rejected.ndjson; all other rows' +
        '\nare imported. The exit code is 1 for a file that cannot be read or of which no row could be read, if nothing' +
        '\nwas loaded and nothing is a duplicate, and for rejected rows with --strict.',
    )
    .action(async (names: readonly string[], options: ImportCommandOptions) => {
      const { dryRun = false } = options
      const sources = await findSources(names, { writesNothing: dryRun })
      await withStore(context, dryRun ? 'import --dry-run' : 'import', (opened) =>
        importAll(context, opened, sources, options),
      )
    })
}

async function importAll(
  context: CommandContext,
  opened: OpenedCluster,
  sources: readonly ImportSource[],
  { strict = false, ...options }: ImportCommandOptions,
): Promise<void> {
  if (options.project !== undefined) await requireProject(opened.store.reader, options.project)
  const stopwatch = startStopwatch()
  const imported: Imported[] = []
  for (const source of sources) {
    const one = await importOne(context, opened, source, { strict, ...options })
    imported.push(one)
    if (strict && one.report.rejected > 0) break
  }
  const rejectedFiles = imported.flatMap(({ rejectedFile }) => rejectedFile ?? [])
  const total = await sumUp(opened, imported)
  printSummary(context, total, stopwatch, rejectedFiles, options)
  requireSuccess(imported, strict)
}

/** Adds up the reports of all sources. */
async function sumUp(
  { cluster }: OpenedCluster,
  imported: readonly Imported[],
): Promise<ImportTotal> {
  const total = imported.map(({ report }) => report).reduce(addReports, EMPTY_REPORT)
  const skipped = imported.reduce((sum, { report }) => sum + report.skipped, 0)
  return { ...total, skipped, ...(await countUsers(cluster, imported, total)) }
}

/**
 * Counts the distinct users and sessions of all sources by their batches: sources may share some, so numbers cannot be
 * added. Those of different shards can. Null for a dry run of several sources, which has no batches.
 */
async function countUsers(
  { shards }: OpenedCluster['cluster'],
  imported: readonly Imported[],
  total: LoadReport,
): Promise<Pick<ImportTotal, 'users' | 'sessions'>> {
  const [one, ...others] = imported
  if (one !== undefined && others.length === 0) {
    return { users: one.report.users, sessions: one.report.sessions }
  }
  const all = imported.flatMap(({ batches }) => batches)
  if (all.length === 0) return { users: null, sessions: null }
  const counts = await Promise.all(
    shards.map(async ({ name, store }) => {
      const batches = all.filter(({ shard }) => shard.name === name).map(({ batch }) => batch)
      return batches.length === 0 ? NONE : countAffected(store.writer, batches, total)
    }),
  )
  return counts.reduce((a, b) => ({ users: a.users + b.users, sessions: a.sessions + b.sessions }))
}

const NONE = { users: 0, sessions: 0 }
