/** The commands `tallyhouse goal set | list | delete` and `tallyhouse segment set | list | delete`. */
import type { Command } from 'commander'
import { pickSettings, type Definition, type DefinitionKind } from '../model/definitions.js'
import type { Filter } from '../contract/api.js'
import { ApiError } from '../contract/errors.js'
import { UserError } from '../lib/errors.js'
import { deleteDefinition, putDefinition } from '../management/definitions.js'
import { listDefinitions } from '../projects/definitions.js'
import { requireProject } from '../projects/store.js'
import { parseFilter } from './ask/parse-filter.js'
import { getManagement, type AddCommand, type CommandContext } from './shared/context.js'
import { appendValue } from './shared/options.js'
import { formatJson, formatTable } from './shared/output.js'
import { withStore } from './shared/with-store.js'

interface SetOptions {
  readonly project: string
  readonly filter: readonly string[]
  readonly value?: string
}

interface ListOptions {
  readonly project: string
  readonly json?: boolean
}

const DESCRIPTIONS: Readonly<Record<DefinitionKind, string>> = {
  goal: 'Define, list and delete goals, whose conversions queries count',
  segment: 'Define, list and delete segments, which queries use as one filter',
}

const PROJECT_HELP = 'Project that it belongs to'

/** Creates what adds the command of goals, or that of segments. */
export const addDefinitions =
  (kind: DefinitionKind): AddCommand =>
  (program, context) => {
    const command = program.command(kind).description(DESCRIPTIONS[kind])
    addSet(command, kind, context)
    addList(command, kind, context)
    addDelete(command, kind, context)
  }

function addSet(command: Command, kind: DefinitionKind, context: CommandContext): void {
  const set = command
    .command('set')
    .description(`Define a ${kind}, or change it; queries know the change at once, for all time`)
    .argument('<name>', `Name of the ${kind}`)
    .requiredOption('--project <id>', PROJECT_HELP)
    .requiredOption(
      '--filter <filter>',
      'What its events satisfy, as in "ask": "event:name is purchase", or JSON; repeat it for several',
      appendValue,
    )
  if (kind === 'goal') {
    set.option('--value <property>', 'What a conversion is worth, such as event:prop:amount')
  }
  set.action(async (name: string, { project: id, filter, value }: SetOptions) => {
    const filters = await readFilters(context, filter.map(parseFilter))
    const definition = { kind, name, filters, value: (value ?? null) as Definition['value'] }
    await withStore(context, `${kind} set`, async ({ store, cluster }) => {
      const project = await requireProject(store.reader, id)
      const isNew = await putDefinition(getManagement(context, cluster), project, definition)
      context.print(`${isNew ? 'defined' : 'set'} the ${kind} ${name} of project ${id}`)
    })
  })
}

/**
 * Checks filters as the service does. What is invalid about them is printed with one line per error.
 *
 * @throws UserError if anything is
 */
async function readFilters({ note }: CommandContext, filters: unknown): Promise<readonly Filter[]> {
  // Imported here, because they take longer to load than all other commands together.
  const { readSpec } = await import('../contract/spec.js')
  const validation = await import('../http/validation/validate-body.js')
  const { validateFilters } = await import('../http/validation/validate-filters.js')
  const bodies = validation.compileOperationBodies(readSpec('openapi').document)
  try {
    return validateFilters(validation.createValidateBody(bodies), filters)
  } catch (error) {
    if (!(error instanceof ApiError) || error.details === undefined) throw error
    for (const { field, message } of error.details) note(`${field}: ${message}`)
    throw new UserError('the filters are invalid')
  }
}

function addList(command: Command, kind: DefinitionKind, context: CommandContext): void {
  command
    .command('list')
    .description(`List the ${kind}s of a project`)
    .requiredOption('--project <id>', PROJECT_HELP)
    .option('--json', 'Print JSON')
    .action(({ project: id, json = false }: ListOptions) =>
      withStore(context, `${kind} list`, async ({ store }) => {
        await requireProject(store.reader, id)
        const all = await listDefinitions(store.reader, id)
        const found = all.filter((one) => one.kind === kind)
        context.print(json ? formatJson(found.map(toJson)) : formatDefinitions(kind, found))
      }),
    )
}

const toJson = (definition: Definition): object => ({
  name: definition.name,
  ...pickSettings(definition),
})

const formatDefinitions = (kind: DefinitionKind, found: readonly Definition[]): string =>
  formatTable([
    ['NAME', ...(kind === 'goal' ? ['VALUE'] : []), 'FILTERS'],
    ...found.map(({ name, filters, value }) => [
      name,
      ...(kind === 'goal' ? [value ?? '-'] : []),
      filters.map((filter) => JSON.stringify(filter)).join(' '),
    ]),
  ])

function addDelete(command: Command, kind: DefinitionKind, context: CommandContext): void {
  command
    .command('delete')
    .description(`Delete a ${kind}; queries that name it are refused from then on`)
    .argument('<name>', `Name of the ${kind}`)
    .requiredOption('--project <id>', PROJECT_HELP)
    .action((name: string, { project: id }: Pick<ListOptions, 'project'>) =>
      withStore(context, `${kind} delete`, async ({ store, cluster }) => {
        const project = await requireProject(store.reader, id)
        await deleteDefinition(getManagement(context, cluster), project, kind, name)
        context.print(`deleted the ${kind} ${name} of project ${id}`)
      }),
    )
}
