/** The command `tallyhouse explain`. */
import { Option } from 'commander'
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { types } from 'node:util'
import { OPERATIONS } from '../../analytics/operations/list.js'
import type { ZonedProject } from '../../analytics/request/default-zone.js'
import type { Definition } from '../../model/definitions.js'
import { locate, type Cluster } from '../../cluster/cluster.js'
import { findEarliest, findStatementGroup, readMeanSizes } from '../../cluster/shard-reads.js'
import { ApiError } from '../../contract/errors.js'
import { ALL_RELATIONS, WITHOUT_PAIRS } from '../../model/relations.js'
import { listDefinitions } from '../../projects/definitions.js'
import { findFirstEventTime } from '../../projects/event-times.js'
import { readProjectSizes } from '../../projects/project-sizes.js'
import { requireProject } from '../../projects/store.js'
import { UserError } from '../../lib/errors.js'
import { isPaired } from '../../rollups/paired-projects.js'
import type { AddCommand, CommandContext } from '../shared/context.js'
import type { ExplainedStatement, Explanation } from './explanation.js'
import type { Prepare } from './prepare.js'
import { printExplanation } from './print-explanation.js'
import { runExplained } from './run-explained.js'
import { requireReadable } from '../shared/require-readable.js'
import { withStore } from '../shared/with-store.js'

interface ExplainOptions {
  readonly project: string
  readonly operation: string
  readonly json?: boolean
}

const STDIN = '-'
const EXPLAINED = OPERATIONS.filter(({ explained }) => explained !== undefined).map(
  ({ name }) => name,
)

export const addExplain: AddCommand = (program, context) => {
  program
    .command('explain')
    .description('Run a query and show how: which tables it reads and why, its SQL and its cost')
    .argument('[file]', 'Body of POST /v1/analytics/<operation>; - reads standard input', STDIN)
    .requiredOption('--project <id>', 'Project to query')
    .addOption(
      new Option('--operation <name>', 'Operation that the body is for')
        .choices(EXPLAINED)
        .default('query'),
    )
    .option('--json', 'Print JSON')
    .action(async (file: string, options: ExplainOptions) => {
      const validate = await readRequest(context, file, options.operation)
      await withStore(context, 'explain', ({ cluster }) =>
        explain(context, cluster, validate, options),
      )
    })
}

/** Validates a request for a project. @throws UserError when it is invalid */
type ValidateFor = (project: ZonedProject, definitions: readonly Definition[]) => Prepare

/**
 * Reads a request as the service does. What is invalid about it is printed with one line per error.
 *
 * @throws UserError when the file cannot be read or is not JSON
 */
async function readRequest(
  context: CommandContext,
  file: string,
  operation: string,
): Promise<ValidateFor> {
  if (file !== STDIN) await requireReadable(file)
  // Imported here, because they take longer to load than all other commands together.
  const { parseQueryBody } = await import('../../http/query/query-body.js')
  const { readSpec } = await import('../../contract/spec.js')
  const validation = await import('../../http/validation/validate-body.js')
  const { prepareExplained } = await import('./prepare.js')
  const body = file === STDIN ? await buffer(process.stdin) : await readFile(file)
  const bodies = validation.compileOperationBodies(readSpec('openapi').document)
  const validate = validation.createValidateBody(bodies)
  const parsed = noteErrors(context, () => parseQueryBody(body))
  return (project, definitions) =>
    noteErrors(context, () => prepareExplained(validate, operation, parsed, project, definitions))
}

/** Calls `read`, and prints one line for each error that it finds in a request. @throws UserError if it finds any */
function noteErrors<Result>({ note }: CommandContext, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ApiError) || error.details === undefined) throw error
    for (const { field, message } of error.details) note(`${field}: ${message}`)
    throw new UserError('the query is invalid')
  }
}

/**
 * Plans the query, runs it once, and prints the plan and the cost. The project's retention does not apply: a user of
 * this command has access to all data anyway.
 *
 * @throws UserError for an invalid query; ApiError when it fails, after the plan has been printed
 */
async function explain(
  context: CommandContext,
  cluster: Cluster,
  validate: ValidateFor,
  options: ExplainOptions,
): Promise<void> {
  const project = await requireProject(cluster.home.store.reader, options.project)
  const shards = locate(cluster, project)
  const group = findStatementGroup(cluster, project)
  const prepare = validate(
    project,
    await listDefinitions(cluster.home.store.reader, options.project),
  )
  const paired = await Promise.all(
    shards.map(({ store }) => isPaired(store.lookups, options.project)),
  )
  const { description, read } = await prepare(
    { ...project, retentionDays: null },
    {
      firstEventAt: (projectId) =>
        findEarliest(shards, (shard) => findFirstEventTime(shard.store.reader, projectId)),
      now: context.now,
      group,
      listRelations: () => (paired.includes(false) ? WITHOUT_PAIRS : ALL_RELATIONS),
      // A service uses sizes that it has read before; this command waits for them.
      readSizes: (projectId) =>
        readMeanSizes(shards, (shard) =>
          readProjectSizes(shard.store.lookups, projectId, context.now()),
        ),
    },
  )
  const statements: ExplainedStatement[] = []
  let run: Explanation['run'] = null
  try {
    if (read !== undefined) run = await runExplained(context, shards, read, statements)
  } catch (error) {
    // The service hides the store's message from its clients. Here it helps.
    if (error instanceof ApiError && types.isNativeError(error.cause)) {
      context.note(error.cause.message)
    }
    throw error
  } finally {
    const names = project.shards.length === 0 ? {} : { shards: project.shards }
    printExplanation(context, { description, ...names, statements, run }, options)
  }
}
