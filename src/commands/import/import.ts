/** The command `tallyhouse import`. */
import { Option } from 'commander'
import type { OpenedStore } from '../../bootstrap/open-store.js'
import type { Store } from '../../clickhouse/store.js'
import { FORMATS } from '../../ingest/import/formats/format.js'
import { addReports, EMPTY_REPORT, type LoadReport } from '../../ingest/loader/load-report.js'
import { countAffected } from '../../ingest/loader/affected.js'
import { requireProject } from '../../projects/store.js'
import { UserError } from '../../lib/errors.js'
import { withStore, type AddCommand, type CommandContext } from '../shared/context.js'
import { importOne, type Imported } from './import-one.js'
import { addToMapping, originOption, type ImportCommandOptions } from './options.js'
import { findSources, type ImportSource } from './sources.js'
import { printSummary, type ImportTotal } from './summary.js'
import { stopwatch } from '../shared/progress.js'

export const addImport: AddCommand = (program, context) => {
  program
    .command('import')
    .description(
      'load events from files: NDJSON, CSV, Parquet, Arrow or access logs, plain or gzip',
    )
    .argument(
      '<file...>',
      'files or patterns such as "logs/*.gz", in this order; - is standard input',
    )
    .option('--project <id>', 'the project of all rows; else each row names its own')
    .addOption(
      new Option('--format <format>', 'what the files are, where they do not tell').choices(
        FORMATS,
      ),
    )
    .option(
      '--map <field=column>',
      'the column of a field, such as user_id=uuid or properties.plan=tier; again for each; ' +
        'columns that are not mapped and have no name of ours are left out',
      addToMapping,
    )
    .option(
      '--origin <origin>',
      'the site of an access log, such as https://example.com',
      originOption,
    )
    .option('--dry-run', 'tell what would be loaded, and write nothing')
    .option('--strict', 'stop at the first rejected rows and exit with 1')
    .option('--json', 'print the summary as JSON')
    .addHelpText(
      'after',
      '\nRejected rows go to <file>.rejected.ndjson, or stdin.rejected.ndjson, with the reasons.',
    )
    .action(async (names: readonly string[], options: ImportCommandOptions) => {
      const sources = await findSources(names, { writesNothing: options.dryRun === true })
      await withStore(context, 'tallyhouse import', (service) =>
        importAll(context, service, sources, options),
      )
    })
}

async function importAll(
  context: CommandContext,
  service: OpenedStore,
  sources: readonly ImportSource[],
  options: ImportCommandOptions,
): Promise<void> {
  if (options.project !== undefined) await requireProject(service.store.reader, options.project)
  const watch = stopwatch()
  const imported: Imported[] = []
  for (const source of sources) {
    const one = await importOne(context, service, source, options)
    imported.push(one)
    if (options.strict === true && one.report.rejected > 0) break
  }
  const rejectedFiles = imported.flatMap(({ rejectedFile }) => rejectedFile ?? [])
  printSummary(context, await totalOf(service.store, imported), watch, rejectedFiles, options)
  const rejected = imported.some(({ report }) => report.rejected > 0)
  if (options.strict === true && rejected) {
    const [file] = rejectedFiles
    throw new UserError(`stopped at rejected rows${file === undefined ? '' : `, see ${file}`}`)
  }
}

async function totalOf({ writer }: Store, imported: readonly Imported[]): Promise<ImportTotal> {
  const total = imported.map(({ report }) => report).reduce(addReports, EMPTY_REPORT)
  const skipped = imported.reduce((sum, one) => sum + one.skipped, 0)
  return { ...total, skipped, ...(await touchedBy(writer, imported, total)) }
}

/** Sources may have users in common; of several that are tried nobody knows. */
async function touchedBy(
  writer: Store['writer'],
  imported: readonly Imported[],
  total: LoadReport,
): Promise<Pick<ImportTotal, 'users' | 'sessions'>> {
  const [one, ...others] = imported
  if (one !== undefined && others.length === 0) {
    return { users: one.report.users, sessions: one.report.sessions }
  }
  const batches = imported.flatMap((source) => source.batches)
  return batches.length === 0
    ? { users: null, sessions: null }
    : countAffected(writer, batches, total)
}
