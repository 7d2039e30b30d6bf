/** Prints projects, for people or as the API shows them. */
import type { Store } from '../clickhouse/store.js'
import type { DailyExclusions } from '../projects/exclusions.js'
import { firstEventAt } from '../projects/first-event.js'
import { presentProject } from '../projects/present.js'
import type { StoredProject } from '../projects/project.js'
import type { CommandContext } from './shared/context.js'
import { defined } from './shared/options.js'
import { json, list, moment, table } from './shared/output.js'
import { grouped } from './shared/progress.js'

export interface OutputOptions {
  readonly json?: boolean
}

const retention = ({ retentionDays }: StoredProject): string =>
  retentionDays === null ? 'unlimited' : `${retentionDays} days`

/** One project, a field a line; below, what was not tracked of late. */
export async function printProject(
  { print }: CommandContext,
  { reader }: Store,
  project: StoredProject,
  options: OutputOptions,
  exclusions?: readonly DailyExclusions[],
): Promise<void> {
  const first = await firstEventAt(reader, project.id)
  if (options.json === true) {
    print(json({ ...presentProject(project, first), ...defined({ exclusions }) }))
    return
  }
  const lines = [
    ['id', project.id],
    ['name', project.name],
    ['domain', project.domain],
    ['token', project.token],
    ['created', moment(project.createdAt)],
    ['first event', moment(first)],
    ['public dashboard', project.hasPublicDashboard ? 'yes' : 'no'],
    ['excluded IPs', list(project.excludedIps)],
    ['excluded countries', list(project.excludedCountries)],
    ['retention', retention(project)],
  ]
  print(table(lines))
  if (exclusions !== undefined && exclusions.length > 0) {
    print(`\n${table(exclusionLines(exclusions))}`)
  }
}

/** What was not tracked, a day a line, the latest first. */
const exclusionLines = (exclusions: readonly DailyExclusions[]): readonly (readonly string[])[] => [
  ['NOT TRACKED', 'BOTS', 'EXCLUDED IPS', 'EXCLUDED COUNTRIES'],
  ...exclusions.map(({ day, bot, ip, country }) => [
    day,
    ...[bot, ip, country].map((events) => grouped(events)),
  ]),
]

/** Many projects, one a line. */
export async function printProjects(
  { print }: CommandContext,
  { reader }: Store,
  projects: readonly StoredProject[],
  options: OutputOptions,
): Promise<void> {
  const found = await Promise.all(
    projects.map(async (project) => ({ project, first: await firstEventAt(reader, project.id) })),
  )
  if (options.json === true) {
    print(json(found.map(({ project, first }) => presentProject(project, first))))
    return
  }
  const lines = found.map(({ project, first }) => [
    project.id,
    project.name,
    project.domain,
    retention(project),
    moment(project.createdAt),
    moment(first),
  ])
  print(table([['ID', 'NAME', 'DOMAIN', 'RETENTION', 'CREATED', 'FIRST EVENT'], ...lines]))
}
