/** Prints projects: tables for people, JSON as the API returns them. */
import type { Store } from '../clickhouse/store.js'
import type { DailyExclusions } from '../projects/exclusions.js'
import { findFirstEventTime } from '../projects/event-times.js'
import { presentProject } from '../projects/present.js'
import type { StoredProject } from '../projects/project.js'
import type { CommandContext } from './shared/context.js'
import { omitUndefined } from './shared/options.js'
import { formatJson, formatList, formatNumber, formatTable, formatTime } from './shared/output.js'

export interface OutputOptions {
  readonly json?: boolean
}

/** Prints one project, one field per line, followed by its exclusions if there are any. */
export async function printProject(
  { print }: CommandContext,
  { reader }: Store,
  project: StoredProject,
  options: OutputOptions,
  exclusions?: readonly DailyExclusions[],
): Promise<void> {
  const first = await findFirstEventTime(reader, project.id)
  if (options.json === true) {
    print(formatJson({ ...presentProject(project, first), ...omitUndefined({ exclusions }) }))
    return
  }
  print(
    formatTable([
      ['id', project.id],
      ['name', project.name],
      ['domain', project.domain],
      ['token', project.token],
      ...formatFormerToken(project),
      ['created', formatTime(project.createdAt)],
      ['first event', formatTime(first)],
      ['public dashboard', project.hasPublicDashboard ? 'yes' : 'no'],
      ['excluded IPs', formatList(project.excludedIps)],
      ['excluded countries', formatList(project.excludedCountries)],
      ['retention', formatRetention(project)],
      ['data is kept', project.keepDays === null ? 'forever' : `${project.keepDays} days`],
      ...(project.isDeleting ? [['state', 'is being deleted']] : []),
    ]),
  )
  if (exclusions !== undefined && exclusions.length > 0) {
    print(`\n${formatExclusions(exclusions)}`)
  }
}

/** Prints a list of projects, one per line. */
export async function printProjects(
  { print }: CommandContext,
  { reader }: Store,
  projects: readonly StoredProject[],
  options: OutputOptions,
): Promise<void> {
  const found = await Promise.all(
    projects.map(async (project) => ({
      project,
      first: await findFirstEventTime(reader, project.id),
    })),
  )
  if (options.json === true) {
    print(formatJson(found.map(({ project, first }) => presentProject(project, first))))
    return
  }
  const rows = found.map(({ project, first }) => [
    project.id,
    project.name,
    project.domain,
    formatRetention(project),
    formatTime(project.createdAt),
    formatTime(first),
  ])
  print(formatTable([['ID', 'NAME', 'DOMAIN', 'RETENTION', 'CREATED', 'FIRST EVENT'], ...rows]))
}

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
