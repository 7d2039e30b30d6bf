/** Converts a stored project into the projects of the contracts. */
import type { Project } from '../contract/api.js'
import type { ManagedProject } from '../contract/management-api.js'
import type { StoredProject } from './project.js'

/** Returns the fields in the order of the contract. */
export const presentProject = (project: StoredProject, firstEventAt: Date | null): Project => ({
  id: project.id,
  name: project.name,
  domain: project.domain,
  token: project.token,
  createdAt: project.createdAt.toISOString(),
  firstEventAt: firstEventAt?.toISOString() ?? null,
  hasPublicDashboard: project.hasPublicDashboard,
  excludedIps: project.excludedIps,
  excludedCountries: project.excludedCountries,
  ...(project.timeZone === null ? {} : { timeZone: project.timeZone }),
})

/** Returns the former public token of a project; null if it has none. */
export const presentFormerToken = ({
  formerToken,
}: Pick<StoredProject, 'formerToken'>): ManagedProject['formerToken'] =>
  formerToken && { token: formerToken.token, until: formerToken.until.toISOString() }

/** Returns a project with all its settings, as management sends it. */
export const presentManagedProject = (project: StoredProject): ManagedProject => ({
  id: project.id,
  org: project.org,
  name: project.name,
  domain: project.domain,
  timeZone: project.timeZone,
  token: project.token,
  formerToken: presentFormerToken(project),
  createdAt: project.createdAt.toISOString(),
  hasPublicDashboard: project.hasPublicDashboard,
  embedOrigins: project.embedOrigins,
  excludedIps: project.excludedIps,
  excludedCountries: project.excludedCountries,
  retentionDays: project.retentionDays,
  keepDays: project.keepDays,
  shards: project.shards,
  isDeleting: project.isDeleting,
})
