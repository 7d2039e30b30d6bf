/** The commands `tallyhouse project create | list | show | status | update | rotate-token | move | widen | delete`. */
import type { Command } from 'commander'
import type { OpenedCluster } from '../bootstrap/open-cluster.js'
import { readClocks } from '../clickhouse/clocks.js'
import { markCut, type ChangedProject } from '../cluster/directory.js'
import { deleteProjectFromShards } from '../deletion/delete-from-shards.js'
import { forceExpiration } from '../deletion/expire-projects.js'
import { createLogger } from '../lib/log.js'
import type { StoredProject } from '../projects/project.js'
import { readExclusions, sumExclusions } from '../projects/exclusions.js'
import { addDays, formatDay } from '../lib/time.js'
import { recordProjectDeletion } from '../management/audit-log.js'
import { createProject, rotateToken, updateProject } from '../management/projects.js'
import { findRelocationWithin, requireSettled } from '../relocation/describe.js'
import { listProjects, requireProject } from '../projects/store.js'
import { addMove } from './cluster/move.js'
import { addWiden } from './cluster/widen.js'
import {
  addFieldOptions,
  toChanges,
  type FieldOptions,
  type UpdateOptions,
} from './project-fields.js'
import { printProject, printProjects, type OutputOptions } from './project-output.js'
import { addStatus } from './project-status.js'
import { getManagement, type AddCommand, type CommandContext } from './shared/context.js'
import {
  describeProject,
  readHoldings,
  createUnconfirmedError,
  YES_HELP,
  WAIT_HELP,
  describeLeftRows,
  mayLeaveRows,
  type DeleteOptions,
} from './shared/deletion.js'
import {
  appendValue,
  NONE,
  omitUndefined,
  parseCount,
  parseExpiry,
  WHEN_HELP,
} from './shared/options.js'
import { describePending, findStores, getContext, requireShards } from './shared/shards.js'
import { withStore } from './shared/with-store.js'

interface CreateOptions extends FieldOptions {
  readonly name: string
  readonly domain: string
  readonly id?: string
  readonly shard?: string
  readonly width?: number
}

interface UpdateCommandOptions extends UpdateOptions {
  /** Whether to delete at once what is kept no longer. */
  readonly force?: boolean
  /** Whether to wait until the rows are deleted. */
  readonly wait?: boolean
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
  addStatus(project, context)
  addUpdate(project, context)
  addRotateToken(project, context)
  addMove(project, context)
  addWiden(project, context)
  addDelete(project, context)
}

function addCreate(project: Command, context: CommandContext): void {
  const create = project
    .command('create')
    .description('Create a project with a public token for sending events')
    .requiredOption('--name <name>', 'Display name')
    .requiredOption('--domain <domain>', 'Primary domain, such as example.com')
    .option('--id <id>', 'Id of the project (default: a random one)')
    .option('--shard <name>', 'In a cluster: its shard (default: the one with the fewest bytes)')
    .option(
      '--width <count>',
      'In a cluster: the number of shards that it lives across (default: DEFAULT_WIDTH)',
      parseCount,
    )
  addFieldOptions(create).action((options: CreateOptions) =>
    withStore(context, 'project create', async ({ cluster }) => {
      const { id, name, domain, shard } = options
      const fields = { ...toChanges(options), ...omitUndefined({ id }), name, domain }
      const width = options.width ?? (shard === undefined ? context.config().defaultWidth : 1)
      const created = await createProject(getManagement(context, cluster), fields, {
        shard,
        width,
      })
      await printProject(context, cluster, created, options)
    }),
  )
}

function addList(project: Command, context: CommandContext): void {
  project
    .command('list')
    .description('List all projects')
    .option('--json', 'Print JSON')
    .action((options: OutputOptions) =>
      withStore(context, 'project list', async ({ store, cluster }) =>
        printProjects(context, cluster, await listProjects(store.reader), options),
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
      withStore(context, 'project show', async ({ store, cluster }) => {
        const stored = await requireProject(store.reader, id)
        const exclusions = await Promise.all(
          requireShards(cluster, stored).map((shard) => readExclusions(shard.store.reader, id)),
        )
        await printProject(context, cluster, stored, options, {
          exclusions: sumExclusions(exclusions),
          relocation: await findRelocationWithin(cluster, id),
        })
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
    .option('--public-dashboard', 'Let anyone see the numbers of the project, at /share/<id>')
    .option('--no-public-dashboard', 'Let nobody see them without an API key')
    .option(
      '--embed-origin <origin>',
      `Let pages of this origin show the public dashboard in a frame, such as https://intranet.example; repeatable; "${NONE}" clears the list`,
      appendValue,
    )
  addFieldOptions(update)
    .option(
      '--force',
      'With --keep-days: delete older data now, all of it; otherwise a later first day is reached by two days a day',
    )
    .option('--wait', `With --force: ${WAIT_HELP}`)
    .action(async (id: string, options: UpdateCommandOptions, command: Command) => {
      const changes = toChanges(options)
      if (Object.keys(changes).length === 0) command.error('error: no field to change was given')
      const { force = false, wait = false } = options
      const { keepDays = null } = changes
      if (force && keepDays === null) {
        command.error('error: --force needs --keep-days with a number of days')
      }
      await withStore(context, 'project update', async (opened) => {
        const { keepDays: before } = await requireProject(opened.store.reader, id)
        const management = getManagement(context, opened.cluster)
        const changed = await updateProject(management, id, changes)
        if (force && keepDays !== null) {
          const end = wait || !mayLeaveRows(opened) ? 'deleted' : 'hidden'
          await expireNow(context, opened, { ...changed.project, keepDays }, end)
        }
        await printChanged(context, opened, changed, options)
        if (!force && before !== null && keepDays !== null && keepDays < before) {
          context.note(
            `older data is deleted by two days a day; with --force, all of it is deleted now`,
          )
        }
      })
    })
}

/** Deletes what a project keeps no longer from all its shards, or hides it until others do. */
async function expireNow(
  context: CommandContext,
  opened: OpenedCluster,
  project: StoredProject & { readonly keepDays: number },
  end: 'hidden' | 'deleted',
): Promise<void> {
  const found = await findStores(opened, project.id)
  const stores = found.map(({ store, loader }) => ({ store, context: loader }))
  const options = {
    logger: createLogger('silent'),
    markCut: (projectId: string) => markCut(opened.cluster, projectId),
  }
  const clocks = await Promise.all(
    stores.map(({ store }) => readClocks(store.lookups, context.now)),
  )
  const day = formatDay(await forceExpiration(options, stores, project, clocks, end))
  context.note(
    end === 'deleted'
      ? `the data from before ${day} is deleted`
      : describeLeftRows(`the data from before ${day}`),
  )
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
      withStore(context, 'project rotate-token', async (opened) => {
        const now = context.now()
        const until = grace ?? addDays(now, GRACE_DAYS)
        const management = getManagement(context, opened.cluster)
        const graceMs = Math.max(0, until.getTime() - now.getTime())
        const changed = await rotateToken(management, id, graceMs)
        await printChanged(context, opened, changed, options)
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
        ? withStore(context, 'project delete --yes', async (opened) => {
            await requireSettled(opened.cluster, id)
            const project = await requireProject(opened.store.reader, id)
            const deleted = await deleteProjectFromShards(opened.cluster, id, getContext(opened))
            await recordProjectDeletion(getManagement(context, opened.cluster), project)
            context.print(`deleted ${describeProject(id, deleted)}`)
          })
        : withStore(context, 'project delete', async (opened) => {
            throw createUnconfirmedError(describeProject(id, await readHoldings(opened, id)))
          }),
    )
}

async function printChanged(
  context: CommandContext,
  { cluster }: OpenedCluster,
  { project, pending }: ChangedProject,
  options: OutputOptions,
): Promise<void> {
  await printProject(context, cluster, project, options, { pending })
  if (pending.length > 0) context.note(describePending(pending))
}
