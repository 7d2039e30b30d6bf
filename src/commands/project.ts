/** The commands `tallyhouse project create | list | show | update | delete`. */
import type { Command } from 'commander'
import { readProjectHoldings } from '../deletion/holdings.js'
import { deleteProject } from '../deletion/delete-project.js'
import type { ProjectChanges } from '../projects/project.js'
import { readExclusions } from '../projects/exclusions.js'
import { createProject, listProjects, requireProject, updateProject } from '../projects/store.js'
import { withStore, type AddCommand } from './shared/context.js'
import { namedProject, unconfirmed, YES, type DeleteOptions } from './shared/deletion.js'
import { collect, days, defined, NONE, values } from './shared/options.js'
import { printProject, printProjects, type OutputOptions } from './project-output.js'

interface FieldOptions extends OutputOptions {
  readonly name?: string
  readonly domain?: string
  readonly retentionDays?: number | typeof NONE
  readonly excludedIp?: readonly string[]
  readonly excludedCountry?: readonly string[]
}

interface CreateOptions extends FieldOptions {
  readonly name: string
  readonly domain: string
  readonly id?: string
}

interface UpdateOptions extends FieldOptions {
  readonly publicDashboard?: boolean
}

const PURPOSE = 'tallyhouse project'

export const addProject: AddCommand = (program, context) => {
  const project = program.command('project').description('make, show, change and delete projects')

  withFields(project.command('create').description('make a project, and its public token'), true)
    .option('--id <id>', 'id; made up where it is left out')
    .option('--json', 'print JSON')
    .action((options: CreateOptions) =>
      withStore(context, PURPOSE, async ({ store }) => {
        const { name, domain } = options
        const fields = { ...changesOf(options), ...defined({ id: options.id }), name, domain }
        const created = await createProject(store, fields, context.now())
        await printProject(context, store, created, options)
      }),
    )

  project
    .command('list')
    .description('list all projects')
    .option('--json', 'print JSON')
    .action((options: OutputOptions) =>
      withStore(context, PURPOSE, async ({ store }) =>
        printProjects(context, store, await listProjects(store.reader), options),
      ),
    )

  project
    .command('show')
    .description('show a project')
    .argument('<id>')
    .option('--json', 'print JSON')
    .action((id: string, options: OutputOptions) =>
      withStore(context, PURPOSE, async ({ store }) => {
        const project = await requireProject(store.reader, id)
        const excluded = await readExclusions(store.reader, id)
        await printProject(context, store, project, options, excluded)
      }),
    )

  withFields(project.command('update').description('change what is given of a project'), false)
    .argument('<id>')
    .option('--public-dashboard', 'let anyone see the dashboard')
    .option('--no-public-dashboard', 'do not')
    .option('--json', 'print JSON')
    .action(async (id: string, options: UpdateOptions, command: Command) => {
      const changes = changesOf(options)
      if (Object.keys(changes).length === 0) command.error('error: nothing to change was given')
      await withStore(context, PURPOSE, async ({ store }) => {
        await printProject(context, store, await updateProject(store, id, changes), options)
      })
    })

  project
    .command('delete')
    .description('delete a project with all that belongs to it; its keys end within 5 seconds')
    .argument('<id>')
    .option('--yes', YES)
    .action((id: string, { yes }: DeleteOptions) =>
      withStore(context, PURPOSE, async ({ store, loader }) => {
        if (yes !== true) {
          await requireProject(store.reader, id)
          throw unconfirmed(namedProject(id, await readProjectHoldings(store.reader, id)))
        }
        context.print(`deleted ${namedProject(id, await deleteProject(store, id, loader))}`)
      }),
    )
}

/** The options for fields that a project can be made with and can get later. */
function withFields(command: Command, needed: boolean): Command {
  const option = (flags: string, description: string): unknown =>
    needed ? command.requiredOption(flags, description) : command.option(flags, description)
  option('--name <name>', 'name')
  option('--domain <domain>', 'primary domain, such as example.com')
  return command
    .option('--retention-days <days>', `days of data that may be asked for, or ${NONE}`, days)
    .option(
      '--excluded-ip <address>',
      `do not track this IP address or CIDR range; repeatable, or ${NONE}`,
      collect,
    )
    .option(
      '--excluded-country <code>',
      `do not track this country; repeatable, or ${NONE}`,
      collect,
    )
}

const changesOf = (options: FieldOptions & UpdateOptions): ProjectChanges =>
  defined({
    name: options.name,
    domain: options.domain,
    retentionDays: options.retentionDays === NONE ? null : options.retentionDays,
    hasPublicDashboard: options.publicDashboard,
    excludedIps: values(options.excludedIp),
    excludedCountries: values(options.excludedCountry),
  })
