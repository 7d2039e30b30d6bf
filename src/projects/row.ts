/** The columns of the table `projects`, and the conversion of a row into a project. */
import { sql } from '../clickhouse/sql.js'
import type { StoredProject } from './project.js'

export interface ProjectRow {
  readonly id: string
  /** Empty if there is none. */
  readonly org: string
  readonly name: string
  readonly domain: string
  /** Empty if there is none. */
  readonly time_zone: string
  readonly token: string
  /** Milliseconds since 1970. */
  readonly created_ms: number
  readonly has_public_dashboard: boolean
  readonly embed_origins: readonly string[]
  readonly excluded_ips: readonly string[]
  readonly excluded_countries: readonly string[]
  readonly retention_days: number | null
  readonly keep_days: number | null
  /** Empty if there is none. */
  readonly former_token: string
  readonly former_token_until_ms: number | null
  readonly is_deleting: boolean
  readonly has_cut_sessions: boolean
  readonly shards: readonly string[]
  /** `until` as `2026-01-31`. */
  readonly former_widths: readonly { readonly width: number; readonly until: string }[]
  readonly is_widening: boolean
  readonly version: number
}

/** The columns that a statement selects from `projects` for a ProjectRow. */
export const PROJECT_COLUMNS = sql`
  id, org, name, domain, time_zone, token, toUnixTimestamp64Milli(created_at) AS created_ms, has_public_dashboard,
  embed_origins, excluded_ips, excluded_countries, retention_days, keep_days, former_token,
  toUnixTimestamp64Milli(former_token_until) AS former_token_until_ms, is_deleting, has_cut_sessions, shards,
  former_widths, is_widening, version`

export const toStoredProject = (row: ProjectRow): StoredProject => ({
  id: row.id,
  org: row.org === '' ? null : row.org,
  name: row.name,
  domain: row.domain,
  timeZone: row.time_zone === '' ? null : row.time_zone,
  token: row.token,
  createdAt: new Date(row.created_ms),
  hasPublicDashboard: row.has_public_dashboard,
  embedOrigins: row.embed_origins,
  excludedIps: row.excluded_ips,
  excludedCountries: row.excluded_countries,
  retentionDays: row.retention_days,
  keepDays: row.keep_days,
  formerToken:
    row.former_token_until_ms === null
      ? null
      : { token: row.former_token, until: new Date(row.former_token_until_ms) },
  isDeleting: row.is_deleting,
  hasCutSessions: row.has_cut_sessions,
  shards: row.shards,
  formerWidths: row.former_widths.map(({ width, until }) => ({ width, until: new Date(until) })),
  isWidening: row.is_widening,
})
