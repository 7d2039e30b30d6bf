/** Prints projects: tables for people, JSON as the API returns them. */
import { findShard, type Cluster } from '../cluster/cluster.js'
import { findEarliest } from '../cluster/shard-reads.js'
import { formatNumber } from '../lib/counts.js'
import type { DailyExclusions } from '../projects/exclusions.js'
import { findFirstEventTime } from '../projects/event-times.js'
import { presentFormerToken, presentProject } from '../projects/present.js'
import type { StoredProject } from '../projects/project.js'
import { describeState } from '../relocation/describe.js'
import type { Relocation } from '../relocation/journal.js'
import type { CommandContext } from './shared/context.js'
import { omitUndefined } from './shared/options.js'
import { formatJson, formatList, formatTable, formatTime } from './shared/output.js'

export interface OutputOptions {
  readonly json?: boolean
}

interface Extras {
  readonly exclusions?: readonly DailyExclusions[]
  /** The shards that do not answer: what they have is not shown. */
  readonly pending?: readonly string[]
  /** The move or widening that has not ended. */
  readonly relocation?: Relocation | undefined
}

/** Prints one project, one field per line, followed by its exclusions if there are any. */
export async function printProject(
  { print }: CommandContext,
  cluster: Cluster,
  project: StoredProject,
  options: OutputOptions,
  { exclusions, pending = [], relocation }: Extras = {},
): Promise<void> {
  const first = await findFirst(cluster, project, pending)
  const shards = nameShards(cluster, project)
  const states = [
    ...(project.isDeleting ? ['is being deleted'] : []),
    ...(relocation === undefined ? [] : [describeState(relocation)]),
  ]
  if (options.json === true) {
    const json = presentFully(project, first)
    const known = omitUndefined({ shards, exclusions })
    print(formatJson({ ...json, ...known, ...(states.length > 0 && { states }) }))
    return
  }
  print(
    formatTable([
      ['id', project.id],
      ...(project.org === null ? [] : [['organization', project.org]]),
      ['name', project.name],
      ['domain', project.domain],
      ...(project.timeZone === null ? [] : [['time zone', project.timeZone]]),
      ['token', project.token],
      ...formatFormerToken(project),
      ['created', formatTime(project.createdAt)],
      ['first event', formatTime(first)],
      ['public dashboard', project.hasPublicDashboard ? 'yes' : 'no'],
      ...(project.embedOrigins.length === 0
        ? []
        : [['embedded by', formatList(project.embedOrigins)]]),
      ['excluded IPs', formatList(project.excludedIps)],
      ['excluded countries', formatList(project.excludedCountries)],
      ['retention', formatRetention(project)],
      ['data is kept', project.keepDays === null ? 'forever' : `${project.keepDays} days`],
      ...(shards === undefined ? [] : [['shards', formatList(shards)]]),
      ...states.map((state) => ['state', state]),
    ]),
  )
  if (exclusions !== undefined && exclusions.length > 0) {
    print(`\n${formatExclusions(exclusions)}`)
  }
}

/** Prints a list of projects, one per line. */
export async function printProjects(
  { print }: CommandContext,
  cluster: Cluster,
  projects: readonly StoredProject[],
  options: OutputOptions,
): Promise<void> {
  const found = await Promise.all(
    projects.map(async (project) => ({
      project,
      first: await findFirst(cluster, project),
      shards: nameShards(cluster, project),
    })),
  )
  if (options.json === true) {
    const json = found.map(({ project, first, shards }) => ({
      ...presentFully(project, first),
      ...omitUndefined({ shards }),
    }))
    print(formatJson(json))
    return
  }
  const rows = found.map(({ project, first, shards }) => [
    project.id,
    project.name,
    project.domain,
    formatRetention(project),
    formatTime(project.createdAt),
    formatTime(first),
    ...(shards === undefined ? [] : [formatList(shards)]),
  ])
  const header = ['ID', 'NAME', 'DOMAIN', 'RETENTION', 'CREATED', 'FIRST EVENT']
  print(formatTable([isCluster(cluster) ? [...header, 'SHARDS'] : header, ...rows]))
}

/** Presents a project as the API does, with the fields that only its operator sees. */
const presentFully = (project: StoredProject, firstEventAt: Date | null) => ({
  ...presentProject(project, firstEventAt),
  embedOrigins: project.embedOrigins,
  timeZone: project.timeZone,
  formerToken: presentFormerToken(project),
  retentionDays: project.retentionDays,
  keepDays: project.keepDays,
  org: project.org,
})

/** Finds the time of the first event, on the shards of the project that are configured and answer. */
function findFirst(
  cluster: Cluster,
  project: StoredProject,
  pending: readonly string[] = [],
): Promise<Date | null> {
  const shards = listShardNames(cluster, project).flatMap((name) => {
    const shard = pending.includes(name) ? undefined : findShard(cluster, name)
    return shard === undefined ? [] : [shard]
  })
  return findEarliest(shards, ({ store }) => findFirstEventTime(store.reader, project.id))
}

const isCluster = ({ shards }: Cluster): boolean => shards.length > 1

const listShardNames = ({ home }: Cluster, { shards }: StoredProject): readonly string[] =>
  shards.length === 0 ? [home.name] : shards

/** Returns the names of a project's shards; undefined for a single store, which has no name. */
const nameShards = (cluster: Cluster, project: StoredProject): readonly string[] | undefined =>
  isCluster(cluster) ? listShardNames(cluster, project) : undefined

/** Formats the numbers of excluded events, one day per line, the latest first. */
const formatExclusions = (exclusions: readonly DailyExclusions[]): string =>
  formatTable([
    ['EXCLUDED', 'BOTS', 'BY IP', 'BY COUNTRY'],
    ...exclusions.map(({ day, bot, ip, country }) => [
      day,
      ...[bot, ip, country].map(formatNumber),
    ]),
  ])

const formatFormerToken = ({ formerToken }: StoredProject): readonly (readonly string[])[] =>
  formerToken === null
    ? []
    : [['former token', `${formerToken.token} until ${formatTime(formerToken.until)}`]]

const formatRetention = ({ retentionDays }: StoredProject): string =>
  retentionDays === null ? 'unlimited' : `${retentionDays} days`
