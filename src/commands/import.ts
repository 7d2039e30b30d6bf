/** The command `tallyhouse import`. */
import type { Store } from '../clickhouse/store.js'
import { importEvents } from '../ingest/import.js'
import { addReports, NOTHING, type LoadReport } from '../ingest/loader/log.js'
import { requireProject } from '../projects/store.js'
import { UserError } from '../user-error.js'
import { withService, type AddCommand, type CommandContext } from './context.js'
import { importFailure } from './import-failure.js'
import { findSources, type ImportSource } from './import-sources.js'
import { printSummary } from './import-summary.js'
import { defined } from './options.js'
import { stopwatch } from './progress.js'
import { keepRejected } from './rejected-rows.js'

interface ImportCommandOptions {
  readonly project?: string
  readonly strict?: boolean
  readonly json?: boolean
}

export const addImport: AddCommand = (program, context) => {
  program
    .command('import')
    .description('load events from files: a JSON object a line, plain or gzip')
    .argument('<file...>', 'files, in this order; - is standard input')
    .option('--project <id>', 'the project of all rows; else each row names its own')
    .option('--strict', 'stop at the first rejected rows and exit with 1')
    .option('--json', 'print the summary as JSON')
    .addHelpText(
      'after',
      '\nRejected rows go to <file>.rejected.ndjson, or stdin.rejected.ndjson, with the reasons.',
    )
    .action(async (names: readonly string[], options: ImportCommandOptions) => {
      const sources = await findSources(names)
      await withService(context, 'tallyhouse import', ({ store }) =>
        importAll(context, store, sources, options),
      )
    })
}

async function importAll(
  context: CommandContext,
  store: Store,
  sources: readonly ImportSource[],
  options: ImportCommandOptions,
): Promise<void> {
  if (options.project !== undefined) await requireProject(store.reader, options.project)
  const watch = stopwatch()
  const rejectedFiles: string[] = []
  let total = NOTHING
  for (const source of sources) {
    const { report, rejectedFile } = await importOne(context, store, source, options)
    total = addReports(total, report)
    if (rejectedFile !== undefined) rejectedFiles.push(rejectedFile)
    if (options.strict === true && report.rejected > 0) break
  }
  printSummary(context, total, watch, rejectedFiles, options)
  const [file] = rejectedFiles
  if (options.strict === true && file !== undefined) {
    throw new UserError(`stopped at rejected rows, see ${file}`)
  }
}

interface Imported {
  readonly report: LoadReport
  readonly rejectedFile: string | undefined
}

async function importOne(
  { note }: CommandContext,
  store: Store,
  source: ImportSource,
  { project, strict }: ImportCommandOptions,
): Promise<Imported> {
  const rejected = keepRejected(source, note)
  const watch = stopwatch()
  let soFar = NOTHING
  try {
    const report = await importEvents(store, source.open(), {
      ...defined({ projectId: project, strict }),
      onRejected: (rows) => rejected.add(rows),
      onProgress: (done) => {
        soFar = done
        note(`${source.name}: ${watch.rate(done.received)}`)
      },
    })
    return { report, rejectedFile: await rejected.close() }
  } catch (error) {
    await rejected.close()
    throw importFailure(error, source.name, soFar.received)
  }
}
