/** The options of `project create` and `project update` for the fields of a project. */
import type { Command } from 'commander'
import type { ProjectChanges } from '../projects/project.js'
import type { OutputOptions } from './project-output.js'
import {
  appendValue,
  NONE,
  omitUndefined,
  parseClearableList,
  parseDays,
} from './shared/options.js'

export interface FieldOptions extends OutputOptions {
  readonly name?: string
  readonly domain?: string
  readonly org?: string
  readonly timeZone?: string
  readonly retentionDays?: number | typeof NONE
  readonly keepDays?: number | typeof NONE
  readonly excludedIp?: readonly string[]
  readonly excludedCountry?: readonly string[]
}

export interface UpdateOptions extends FieldOptions {
  readonly publicDashboard?: boolean
  readonly embedOrigin?: readonly string[]
}

/** The options of `create` and `update` for fields that have a default. */
export const addFieldOptions = (command: Command): Command =>
  command
    .option('--org <name>', `Organization of the project, or "${NONE}" for none`)
    .option(
      '--time-zone <zone>',
      `Time zone of queries that name none, such as Europe/Berlin, or "${NONE}" for UTC`,
    )
    .option(
      '--retention-days <days>',
      `Days of history that queries can read, or "${NONE}" for no limit`,
      parseDays,
    )
    .option(
      '--keep-days <days>',
      `Days of data before the current one (UTC) that are kept, or "${NONE}" to keep all; older data is deleted for good, within two hours and then daily`,
      parseDays,
    )
    .option(
      '--excluded-ip <address>',
      `Exclude events from this IP address or CIDR range; repeatable; "${NONE}" clears the list`,
      appendValue,
    )
    .option(
      '--excluded-country <code>',
      `Exclude events from this country, such as DE; repeatable; "${NONE}" clears the list`,
      appendValue,
    )
    .option('--json', 'Print JSON')

export const toChanges = (options: UpdateOptions): ProjectChanges =>
  omitUndefined({
    name: options.name,
    domain: options.domain,
    org: options.org === NONE ? null : options.org,
    timeZone: options.timeZone === NONE ? null : options.timeZone,
    retentionDays: options.retentionDays === NONE ? null : options.retentionDays,
    keepDays: options.keepDays === NONE ? null : options.keepDays,
    hasPublicDashboard: options.publicDashboard,
    embedOrigins: parseClearableList(options.embedOrigin),
    excludedIps: parseClearableList(options.excludedIp),
    excludedCountries: parseClearableList(options.excludedCountry),
  })
