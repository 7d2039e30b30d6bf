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
})

/** Returns a project with all its settings, as management sends it. */
export const presentManagedProject = (project: StoredProject): ManagedProject => ({
  id: project.id,
  org: project.org,
  name: project.name,
  domain: project.domain,
  token: project.token,
  formerToken:
    project.formerToken === null
      ? null
      : { token: project.formerToken.token, until: project.formerToken.until.toISOString() },
  createdAt: project.createdAt.toISOString(),
  hasPublicDashboard: project.hasPublicDashboard,
  excludedIps: project.excludedIps,
  excludedCountries: project.excludedCountries,
  retentionDays: project.retentionDays,
  keepDays: project.keepDays,
  shards: project.shards,
  isDeleting: project.isDeleting,
})
