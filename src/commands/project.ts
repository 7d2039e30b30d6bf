/** The commands `tallyhouse project create | list | show | update | rotate-token | delete`. */
import type { Command } from 'commander'
import { deleteProject } from '../deletion/delete-project.js'
import { readProjectHoldings } from '../deletion/holdings.js'
import { readExclusions } from '../projects/exclusions.js'
import { addDays } from '../lib/time.js'
import {
  createProject,
  listProjects,
  requireProject,
  rotateToken,
  updateProject,
} from '../projects/store.js'
import {
  addFieldOptions,
  toChanges,
  type FieldOptions,
  type UpdateOptions,
} from './project-fields.js'
import { printProject, printProjects, type OutputOptions } from './project-output.js'
import type { AddCommand, CommandContext } from './shared/context.js'
import {
  describeProject,
  createUnconfirmedError,
  YES_HELP,
  type DeleteOptions,
} from './shared/deletion.js'
import { NONE, omitUndefined, parseExpiry, WHEN_HELP } from './shared/options.js'
import { withStore } from './shared/with-store.js'

interface CreateOptions extends FieldOptions {
  readonly name: string
  readonly domain: string
  readonly id?: string
}

interface RotateOptions extends OutputOptions {
  readonly grace?: Date
}

const ID_HELP = 'Id of the project'
/** How long the former public token stays valid by default. */
const GRACE_DAYS = 7

export const addProject: AddCommand = (program, context) => {
  const project = program
    .command('project')
    .description('Create, list, show, change and delete projects')
  addCreate(project, context)
  addList(project, context)
  addShow(project, context)
  addUpdate(project, context)
  addRotateToken(project, context)
  addDelete(project, context)
}

function addCreate(project: Command, context: CommandContext): void {
  const create = project
    .command('create')
    .description('Create a project with a public token for sending events')
    .requiredOption('--name <name>', 'Display name')
    .requiredOption('--domain <domain>', 'Primary domain, such as example.com')
    .option('--id <id>', 'Id of the project (default: a random one)')
  addFieldOptions(create).action((options: CreateOptions) =>
    withStore(context, 'project create', async ({ store }) => {
      const { id, name, domain } = options
      const fields = { ...toChanges(options), ...omitUndefined({ id }), name, domain }
      const created = await createProject(store, fields, context.now())
      await printProject(context, store, created, options)
    }),
  )
}

function addList(project: Command, context: CommandContext): void {
  project
    .command('list')
    .description('List all projects')
    .option('--json', 'Print JSON')
    .action((options: OutputOptions) =>
      withStore(context, 'project list', async ({ store }) =>
        printProjects(context, store, await listProjects(store.reader), options),
      ),
    )
}

function addShow(project: Command, context: CommandContext): void {
  project
    .command('show')
    .description('Show a project, and how many of its events were excluded per day')
    .argument('<id>', ID_HELP)
    .option('--json', 'Print JSON')
    .action((id: string, options: OutputOptions) =>
      withStore(context, 'project show', async ({ store }) => {
        const stored = await requireProject(store.reader, id)
        const exclusions = await readExclusions(store.reader, id)
        await printProject(context, store, stored, options, exclusions)
      }),
    )
}

function addUpdate(project: Command, context: CommandContext): void {
  const update = project
    .command('update')
    .description('Change the given fields of a project')
    .argument('<id>', ID_HELP)
    .option('--name <name>', 'Display name')
    .option('--domain <domain>', 'Primary domain, such as example.com')
    .option('--public-dashboard', 'Make the dashboard public')
    .option('--no-public-dashboard', 'Make the dashboard private')
  addFieldOptions(update).action(async (id: string, options: UpdateOptions, command: Command) => {
    const changes = toChanges(options)
    if (Object.keys(changes).length === 0) command.error('error: no field to change was given')
    await withStore(context, 'project update', async ({ store }) => {
      await printProject(context, store, await updateProject(store, id, changes), options)
    })
  })
}

function addRotateToken(project: Command, context: CommandContext): void {
  project
    .command('rotate-token')
    .description(
      'Give a project a new public token; events are accepted with the former one for a while',
    )
    .argument('<id>', ID_HELP)
    .option(
      '--grace <when>',
      `When the former token ends: ${WHEN_HELP}; "${NONE}" ends it within a minute (default: ${GRACE_DAYS}d)`,
      (text) => (text === NONE ? context.now() : parseExpiry(text, context.now())),
    )
    .option('--json', 'Print JSON')
    .action((id: string, { grace, ...options }: RotateOptions) =>
      withStore(context, 'project rotate-token', async ({ store }) => {
        const now = context.now()
        const until = grace ?? addDays(now, GRACE_DAYS)
        await printProject(context, store, await rotateToken(store, id, until, now), options)
      }),
    )
}

function addDelete(project: Command, context: CommandContext): void {
  project
    .command('delete')
    .description(
      'Delete a project with its events and API keys; the keys end first, and the data 15 seconds later',
    )
    .argument('<id>', ID_HELP)
    .option('--yes', YES_HELP)
    .action((id: string, { yes = false }: DeleteOptions) =>
      yes
        ? withStore(context, 'project delete --yes', async ({ store, loader }) => {
            context.print(`deleted ${describeProject(id, await deleteProject(store, id, loader))}`)
          })
        : withStore(context, 'project delete', async ({ store: { reader } }) => {
            await requireProject(reader, id)
            throw createUnconfirmedError(describeProject(id, await readProjectHoldings(reader, id)))
          }),
    )
}
